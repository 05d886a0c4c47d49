import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KILL_REASONS } from '../../../src/api/vocabulary.ts';
import { PROVIDER_ERROR_KINDS } from '../../../src/api/attempt.ts';
import type { Observation } from '../../../src/api/attempt.ts';
import { classifyAttempt, retryGroupOf } from '../../../src/attempt/failure-class.ts';
import type { AttemptSignals, PodSignals } from '../../../src/attempt/failure-class.ts';
import { FAILURE_RULES } from '../../../src/attempt/failure-rules.ts';
import { failureTable } from '../../../src/attempt/failure-table.ts';

type Result = NonNullable<AttemptSignals['result']>;

const orderly: Result = {
  observations: [{ kind: 'agent_exit', code: 0, signal: null }],
  killReason: null,
  exitCode: 0,
  signal: null,
  oomKills: 0,
  turns: 1,
  completion: { completed: true, signal: 'stop_reason', reason: '', conflict: false, stopReason: 'stop' },
  collected: true,
};
const ended = (changes: Partial<Result>, pod?: PodSignals): AttemptSignals => ({
  result: { ...orderly, ...changes },
  ...(pod === undefined ? {} : { pod }),
});
const saw = (...observations: Observation[]) => ended({ observations });
const killedFor = (reason: (typeof KILL_REASONS)[number]) =>
  ended({
    killReason: reason,
    exitCode: null,
    signal: 'SIGTERM',
    observations: [
      { kind: 'killed', reason, turn: 1, escalated: false },
      { kind: 'agent_exit', code: null, signal: 'SIGTERM' },
    ],
  });
const provider = (
  error: (typeof PROVIDER_ERROR_KINDS)[number],
  final = true,
  status: number | null = null,
): Observation => ({ kind: 'provider_error', error, status, final, message: '' });
const noResult = (pod?: PodSignals): AttemptSignals => ({
  result: null,
  ...(pod === undefined ? {} : { pod }),
});
const message = '';

/** At least one case for each row of the table. */
const CASES: Readonly<Record<string, readonly AttemptSignals[]>> = {
  Cancelled: [killedFor('cancelled')],
  DiskLimitEviction: [
    noResult({ evicted: { ownLimit: true } }),
    ended({ collected: false }, { evicted: { ownLimit: true } }),
  ],
  NodePressure: [
    noResult({ evicted: { ownLimit: false }, disrupted: true }),
    { ...killedFor('interrupted'), pod: { evicted: { ownLimit: false }, disrupted: true } },
  ],
  Disrupted: [
    noResult({ disrupted: true }),
    noResult({ disrupted: true, lost: true }),
    { ...killedFor('interrupted'), pod: { disrupted: true } },
  ],
  Interrupted: [killedFor('interrupted'), saw({ kind: 'interrupted', message })],
  StagingFailed: [
    saw({ kind: 'staging_failed', message }),
    ended({ turns: 0, exitCode: null, observations: [{ kind: 'staging_failed', message }] }),
  ],
  SetupFailed: [ended({ turns: 0, exitCode: null, observations: [{ kind: 'setup_failed', message }] })],
  ShimMissing: [ended({ turns: 0, exitCode: null, observations: [{ kind: 'shim_missing', message }] })],
  SpawnFailed: [ended({ turns: 1, exitCode: null, observations: [{ kind: 'spawn_failed', message }] })],
  CollectionDiskFull: [
    ended({ collected: false, observations: [{ kind: 'collection_failed', message, reason: 'DiskFull' }] }),
  ],
  CollectionFailed: [
    ended({ collected: false, observations: [{ kind: 'collection_failed', message }] }),
    ended({ collected: false }),
  ],
  GatewayUnavailable: [
    { ...saw(provider('connection')), pod: { gatewayDown: true } },
    saw({ kind: 'gateway_down', calls: 1, final: true, message }),
    ended({
      killReason: 'turn_deadline',
      observations: [{ kind: 'gateway_down', calls: 3, final: true, message }],
    }),
  ],
  DiskLimit: [killedFor('disk_limit')],
  WorkspaceDeleted: [saw({ kind: 'workspace_missing' })],
  SpawnFailedLater: [ended({ turns: 2, exitCode: null, observations: [{ kind: 'spawn_failed', message }] })],
  OutOfMemory: [
    ended({ exitCode: null, signal: 'SIGKILL', oomKills: 1 }),
    ended({ exitCode: 137, observations: [{ kind: 'agent_oom', oomKills: 1 }] }),
    // A wrapper that ends with 0 after its child was killed.
    ended({ exitCode: 0, oomKills: 1, completion: { ...orderly.completion, completed: false } }),
    // A child's OOM with a living shim: exit code 0, reason OOMKilled.
    noResult({ executorTerminated: { reason: 'OOMKilled', exitCode: 0 } }),
    ended(
      { exitCode: null, observations: [{ kind: 'shim_lost', message }] },
      { executorTerminated: { reason: 'OOMKilled', exitCode: 137 } },
    ),
  ],
  ShimKilled: [ended({ exitCode: null, observations: [{ kind: 'shim_lost', message }] })],
  ProcessLimit: [ended({ exitCode: 1, observations: [{ kind: 'agent_pids_limit' }] })],
  ContentFilter: [saw(provider('content_filter'))],
  ContextOverflow: [saw(provider('context_length'))],
  ProviderRefused: [
    saw(provider('authentication', true, 401)),
    saw(provider('server_error', true, 404)),
    saw(provider('connection', true, 403)),
  ],
  ProviderQuota: [saw(provider('quota', true, 429))],
  ProviderRateLimit: [
    saw(provider('rate_limit', true, 429)),
    // The agent tried until its time was over: the provider is why.
    ended({ ...killedFor('turn_deadline').result, observations: [provider('rate_limit', true, 429)] }),
  ],
  ProviderOverloaded: [saw(provider('overloaded', true, 529))],
  ProviderServerError: [
    saw(provider('server_error', true, 500)),
    ended({ exitCode: 1, observations: [provider('server_error')] }),
  ],
  ProviderUnreachable: [saw(provider('connection'))],
  StartupSilence: [
    killedFor('startup_silence'),
    ended({ ...killedFor('startup_silence').result, observations: [{ kind: 'transcript_missing' }] }),
  ],
  Stalled: [killedFor('stall')],
  TurnDeadline: [
    killedFor('turn_deadline'),
    // A tool of the agent ran out of memory some time before.
    ended({ ...killedFor('turn_deadline').result, oomKills: 1 }),
    // An error that the agent got over.
    ended({ ...killedFor('turn_deadline').result, observations: [provider('rate_limit', false, 429)] }),
  ],
  TotalDeadline: [killedFor('total_deadline')],
  WallDeadline: [killedFor('wall_deadline')],
  AgentCrash: [
    ended({ exitCode: 1 }),
    ended({ exitCode: null, signal: 'SIGSEGV' }),
    // Without a session the adapter has nothing to read: still the crash.
    ended({
      exitCode: 1,
      observations: [{ kind: 'transcript_missing' }, { kind: 'adapter_error', message }],
    }),
  ],
  AdapterError: [
    saw({ kind: 'adapter_error', message }),
    // The adapter could not make a turn: no process was ever started.
    ended({ turns: 1, exitCode: null, observations: [{ kind: 'adapter_error', message }] }),
  ],
  TranscriptMissing: [saw({ kind: 'transcript_missing' })],
  NoAnswer: [saw({ kind: 'transcript_missing', placeholder: true })],
  RuntimeStopped: ['error', 'aborted', 'Timed_Out'].map((stopReason) =>
    ended({ completion: { ...orderly.completion, completed: false, stopReason } }),
  ),
  EndUnknown: [ended({ exitCode: null, observations: [] })],
  HarnessOutOfMemory: [noResult({ harnessTerminated: { reason: 'OOMKilled', exitCode: 137 } })],
  ImagePullFailed: [noResult({ imageFailed: true, startDeadline: true })],
  MountFailed: [noResult({ mountFailed: true, startDeadline: true })],
  QueuedDeadline: [noResult({ queuedDeadline: true })],
  StartDeadline: [noResult({ startDeadline: true })],
  PodDeadline: [noResult({ activeDeadline: true })],
  PodLost: [noResult({ lost: true })],
  ResultMissing: [noResult(), noResult({ harnessTerminated: { reason: 'Error', exitCode: 1 } })],
};

describe('the failure-class table', () => {
  for (const rule of FAILURE_RULES) {
    it(`decides ${rule.reason}: ${rule.doc}`, () => {
      const cases = CASES[rule.reason] ?? [];
      expect(cases.length).toBeGreaterThan(0);
      for (const signals of cases) {
        expect(classifyAttempt(signals)).toEqual({
          class: rule.class,
          reason: rule.reason,
          retry: rule.retry,
          counted: rule.counted ?? true,
          execution: rule.execution ?? 'error',
        });
      }
    });
  }

  it('has a case for no row that does not exist', () => {
    expect(Object.keys(CASES)).toEqual(FAILURE_RULES.map(({ reason }) => reason));
  });

  it('names every reason once, in CamelCase', () => {
    const reasons = FAILURE_RULES.map(({ reason }) => reason);
    expect(new Set(reasons).size).toBe(reasons.length);
    for (const reason of reasons) expect(reason).toMatch(/^([A-Z][a-z]+)+$/);
  });

  it('holds an agent that ended in order for no failure', () => {
    const none = { class: null, reason: null, retry: null, counted: true, execution: 'success' };
    expect(classifyAttempt({ result: orderly })).toEqual(none);
    // A tool that ran out of memory, and an agent that finished all the same.
    expect(
      classifyAttempt(ended({ oomKills: 1, observations: [{ kind: 'agent_oom', oomKills: 1 }] })),
    ).toEqual(none);
    // The gate audits only a pass of the supervisor; without one the checks grade.
    expect(
      classifyAttempt(
        ended({ completion: { ...orderly.completion, completed: false, stopReason: 'length' } }),
      ),
    ).toEqual(none);
    expect(
      classifyAttempt(saw({ kind: 'leftover_processes', count: 2, commands: ['sleep', 'sleep'] })),
    ).toEqual(none);
    expect(classifyAttempt(saw(provider('rate_limit', false, 429)))).toEqual(none);
    // A pod that is taken away after everything was collected.
    expect(classifyAttempt({ result: orderly, pod: { disrupted: true, lost: true } })).toEqual(none);
  });

  it('lets the earlier of two rows decide', () => {
    const reasonOf = (...observations: Observation[]) => classifyAttempt(saw(...observations)).reason;
    expect(reasonOf(provider('server_error'), { kind: 'workspace_missing' })).toBe('WorkspaceDeleted');
    expect(reasonOf({ kind: 'workspace_missing' }, { kind: 'setup_failed', message })).toBe('SetupFailed');
    expect(reasonOf(provider('rate_limit'), provider('content_filter'))).toBe('ContentFilter');
    expect(reasonOf({ kind: 'setup_failed', message }, { kind: 'interrupted', message })).toBe('Interrupted');
  });

  it('never lets what an agent can cause be retried, and always gives the machine another try', () => {
    for (const rule of FAILURE_RULES) {
      if (rule.class === 'agent' || rule.class === 'adapter') expect(rule.retry).toBeNull();
      if (rule.retry === 'provider') expect(rule.class).toBe('provider');
      if (rule.retry !== null) expect(retryGroupOf(rule.reason)).toBe(rule.retry);
    }
    expect(retryGroupOf('NoSuchReason')).toBeNull();
  });

  it('never makes an attempt whose harness killed the agent for its time anything but the agent or its provider', () => {
    const timeBounds = [
      'startup_silence',
      'stall',
      'turn_deadline',
      'total_deadline',
      'wall_deadline',
    ] as const;
    const agentMade = fc.oneof(
      fc.constantFrom<Observation>(
        { kind: 'agent_oom', oomKills: 1 },
        { kind: 'agent_pids_limit' },
        { kind: 'shim_lost', message },
        { kind: 'workspace_missing' },
        { kind: 'transcript_missing' },
        { kind: 'adapter_error', message },
        { kind: 'leftover_processes', count: 1, commands: ['x'] },
      ),
      fc.constantFrom(...PROVIDER_ERROR_KINDS).map((kind) => provider(kind)),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...timeBounds),
        fc.array(agentMade, { maxLength: 6 }),
        (reason, observations) => {
          const { class: decided } = classifyAttempt({
            result: { ...killedFor(reason).result!, observations },
          });
          expect(['agent', 'provider']).toContain(decided);
        },
      ),
    );
  });

  it('is what docs/explanation/failure-classes.md shows', async () => {
    const page = await readFile(
      join(import.meta.dirname, '../../../docs/explanation/failure-classes.md'),
      'utf8',
    );
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const cells = (line: string) => line.split('|').map((cell) => cell.trim());
    expect(rows.map(cells)).toEqual(failureTable().map(cells));
  });

  it('has a row for every reason to kill', () => {
    for (const reason of KILL_REASONS) expect(classifyAttempt(killedFor(reason)).class).not.toBeNull();
  });
});
