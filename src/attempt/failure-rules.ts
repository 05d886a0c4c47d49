import type { Observation, ProviderErrorKind } from '../api/attempt.ts';
import type { ExecutionStatus, FailureClass, KillReason } from '../api/vocabulary.ts';
import type { AttemptSignals, PodSignals, RetryGroup } from './failure-class.ts';

/** One row of the table. Its reason is its name. */
export interface FailureRule {
  /** CamelCase, unique: the word in Trial status, tables and conditions. */
  readonly reason: string;
  readonly class: FailureClass;
  readonly retry: RetryGroup | null;
  /** False: not charged against `spec.retry`, because the attempt was taken away and did not fail. */
  readonly counted?: false;
  /** `error` where nothing is said. */
  readonly execution?: ExecutionStatus;
  /** One sentence for people (docs/explanation/failure-classes.md). */
  readonly doc: string;
  readonly matches: (signals: AttemptSignals) => boolean;
}

type Result = NonNullable<AttemptSignals['result']>;
type Kind = Observation['kind'];

const observed =
  <K extends Kind>(kind: K, that: (observation: Extract<Observation, { kind: K }>) => boolean = () => true) =>
  ({ result }: AttemptSignals): boolean =>
    result?.observations.some(
      (observation) => observation.kind === kind && that(observation as Extract<Observation, { kind: K }>),
    ) ?? false;

const killed = (reason: KillReason) => (signals: AttemptSignals) =>
  signals.result?.killReason === reason ||
  observed('killed', (observation) => observation.reason === reason)(signals);

const finalProviderError = (...any: readonly ProviderErrorKind[]) =>
  observed('provider_error', ({ error, final }) => final && any.includes(error));

const finalStatus = (...any: readonly number[]) =>
  observed('provider_error', ({ final, status }) => final && any.includes(status ?? 0));

const result = (that: (result: Result) => boolean) => (signals: AttemptSignals) =>
  signals.result !== null && that(signals.result);

/** The harness wrote no result, and the pod says why. */
const withoutResult = (that: (pod: PodSignals) => boolean | undefined) => (signals: AttemptSignals) =>
  signals.result === null && (that(signals.pod ?? {}) ?? false);

/** The harness did not come to keep everything that the agent left: there is nothing whole to grade. */
const notWhole = ({ result }: AttemptSignals) => !(result?.collected ?? false);

const or =
  (...any: readonly FailureRule['matches'][]): FailureRule['matches'] =>
  (signals) =>
    any.some((matches) => matches(signals));

const and =
  (...all: readonly FailureRule['matches'][]): FailureRule['matches'] =>
  (signals) =>
    all.every((matches) => matches(signals));

/**
 * The harness ended nothing, and the agent did not come to a good end of its own. An agent whose tool ran out of
 * memory and that then finished its work has not failed.
 */
const notInOrder = result(
  ({ exitCode, killReason, completion }) => killReason === null && (exitCode !== 0 || !completion.completed),
);

/** Runtimes that end with code 0 whatever happened say it here only. */
const STOPPED_BY_RUNTIME = new Set(['error', 'aborted', 'cancelled', 'canceled', 'timeout', 'timedout']);

/**
 * The table, in order: the first row that matches decides. Its order follows one question: could the agent have
 * caused it?
 *
 * 1. What came from outside and took the attempt away, kept the agent from ever starting, or left nothing whole
 *    to grade. No agent can do it; its own disk limit, by which a kubelet takes the pod away, stands before.
 * 2. What an agent does to its own surroundings (memory, processes, disk, shim): its doing, even where a
 *    provider failed as well.
 * 3. A provider that failed in the end: the agent could not go on, however the turn was then ended.
 * 4. How the agent itself ended: bounds of time, crash, missing answer.
 * 5. What is left when there is no result: the pod and the machine.
 */
export const FAILURE_RULES: readonly FailureRule[] = [
  // 1. From outside.
  {
    reason: 'Cancelled',
    class: 'infrastructure',
    retry: null,
    counted: false,
    doc: 'The run was cancelled while the attempt ran.',
    matches: or(
      killed('cancelled'),
      // A harness in a pod cannot tell why it is asked to end; what had ended before stays what it was.
      and(({ pod }) => pod?.cancelled === true, or(notWhole, killed('interrupted'), observed('interrupted'))),
    ),
  },
  {
    reason: 'DiskLimitEviction',
    class: 'agent',
    retry: null,
    doc: 'The kubelet evicted the pod because the executor passed its own disk limit.',
    matches: and(({ pod }) => pod?.evicted?.ownLimit === true, notWhole),
  },
  {
    reason: 'NodePressure',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The node ran short of memory or disk and evicted the pod, which was within its own limits.',
    matches: and(
      ({ pod }) => pod?.evicted?.ownLimit === false,
      or(notWhole, killed('interrupted'), observed('interrupted')),
    ),
  },
  {
    reason: 'Disrupted',
    class: 'infrastructure',
    retry: 'disruption',
    doc: 'The cluster took the pod away (preemption, drain, queue) before everything was collected.',
    matches: and(
      ({ pod }) => pod?.disrupted === true && pod.evicted === undefined,
      or(notWhole, killed('interrupted'), observed('interrupted')),
    ),
  },
  {
    reason: 'Interrupted',
    class: 'infrastructure',
    retry: 'infrastructure',
    counted: false,
    doc: 'The program that ran the attempt was ended; the attempt is run again under the next number.',
    matches: or(killed('interrupted'), observed('interrupted')),
  },
  {
    reason: 'StagingFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The scenario's files could not be laid out; the agent never started.",
    matches: observed('staging_failed'),
  },
  {
    reason: 'SetupFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The scenario's setup script failed; the agent never started.",
    matches: observed('setup_failed'),
  },
  {
    reason: 'ShimMissing',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The shim never connected to the harness; the agent never started.',
    matches: observed('shim_missing'),
  },
  {
    reason: 'SpawnFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The runtime's program could not be started for the first turn.",
    matches: and(
      observed('spawn_failed'),
      result(({ turns }) => turns <= 1),
    ),
  },
  {
    reason: 'CollectionDiskFull',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The disk that keeps the results was full.',
    matches: observed('collection_failed', ({ reason }) => reason === 'DiskFull'),
  },
  {
    reason: 'CollectionFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The agent's files could not be collected in time or in full; what the collector leaves out by its bounds is no failure.",
    matches: or(
      observed('collection_failed'),
      result(({ collected }) => !collected),
    ),
  },
  {
    reason: 'GatewayUnavailable',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The run's own gateway was down and the agent could not reach its model.",
    matches: or(
      observed('gateway_down', ({ final }) => final),
      and(({ pod }) => pod?.gatewayDown === true, finalProviderError('connection', 'server_error')),
    ),
  },

  // 2. The agent's own surroundings.
  {
    reason: 'DiskLimit',
    class: 'agent',
    retry: null,
    doc: 'The agent wrote more than its disk limit allows.',
    matches: killed('disk_limit'),
  },
  {
    reason: 'WorkspaceDeleted',
    class: 'agent',
    retry: null,
    doc: 'The agent deleted its own workspace or put something else in its place.',
    matches: observed('workspace_missing'),
  },
  {
    reason: 'SpawnFailedLater',
    class: 'agent',
    retry: null,
    doc: "The runtime's program could not be started again for a later turn, after it had run: the agent broke it.",
    matches: observed('spawn_failed'),
  },
  {
    reason: 'OutOfMemory',
    class: 'agent',
    retry: null,
    doc: 'The kernel killed a process of the agent for its memory limit, and the agent did not end in order.',
    matches: or(
      and(
        or(
          observed('agent_oom'),
          result(({ oomKills }) => oomKills > 0),
        ),
        notInOrder,
      ),
      and(
        ({ pod }) => pod?.executorTerminated?.reason === 'OOMKilled',
        or(({ result }) => result === null, observed('shim_lost')),
      ),
    ),
  },
  {
    reason: 'ShimKilled',
    class: 'agent',
    retry: null,
    doc: 'The connection to the shim was lost while the agent ran: the agent ended the shim or its container.',
    matches: observed('shim_lost'),
  },
  {
    reason: 'ProcessLimit',
    class: 'agent',
    retry: null,
    doc: 'The agent used up its limit of processes and did not end in order.',
    matches: and(observed('agent_pids_limit'), notInOrder),
  },
  {
    reason: 'ContentFilter',
    class: 'agent',
    retry: null,
    doc: "The provider refused the agent's request for its content.",
    matches: finalProviderError('content_filter'),
  },
  {
    reason: 'ContextOverflow',
    class: 'agent',
    retry: null,
    doc: "The agent's request was longer than the model's context.",
    matches: finalProviderError('context_length'),
  },

  // 3. The provider.
  {
    reason: 'ProviderRefused',
    class: 'provider',
    retry: null,
    doc: 'The provider refused key, permission or model (401, 403, 404): another attempt would be refused too.',
    matches: or(finalProviderError('authentication', 'not_found'), finalStatus(401, 403, 404)),
  },
  {
    reason: 'ProviderQuota',
    class: 'provider',
    retry: null,
    doc: "The account's quota at the provider is used up.",
    matches: finalProviderError('quota'),
  },
  {
    reason: 'ProviderRateLimit',
    class: 'provider',
    retry: 'provider',
    doc: 'The provider refused calls for their rate until the agent gave up or its time was over.',
    matches: finalProviderError('rate_limit'),
  },
  {
    reason: 'ProviderOverloaded',
    class: 'provider',
    retry: 'provider',
    doc: 'The provider was overloaded until the agent gave up or its time was over.',
    matches: finalProviderError('overloaded'),
  },
  {
    reason: 'ProviderServerError',
    class: 'provider',
    retry: 'provider',
    doc: 'The provider answered with errors of its own (5xx).',
    matches: finalProviderError('server_error'),
  },
  {
    reason: 'ProviderUnreachable',
    class: 'provider',
    retry: 'provider',
    doc: 'The provider could not be reached, or broke off its answers.',
    matches: finalProviderError('connection'),
  },

  // 4. How the agent ended.
  {
    reason: 'StartupSilence',
    class: 'agent',
    retry: null,
    execution: 'timeout',
    doc: 'The agent showed no sign of life after its start.',
    matches: killed('startup_silence'),
  },
  {
    reason: 'Stalled',
    class: 'agent',
    retry: null,
    execution: 'timeout',
    doc: 'The agent made no progress for the stall bound.',
    matches: killed('stall'),
  },
  {
    reason: 'TurnDeadline',
    class: 'agent',
    retry: null,
    execution: 'timeout',
    doc: 'A turn took longer than its bound.',
    matches: killed('turn_deadline'),
  },
  {
    reason: 'TotalDeadline',
    class: 'agent',
    retry: null,
    execution: 'timeout',
    doc: 'The turns together took longer than the total bound.',
    matches: killed('total_deadline'),
  },
  {
    reason: 'WallDeadline',
    class: 'agent',
    retry: null,
    execution: 'timeout',
    doc: 'The attempt took longer than the wall bound.',
    matches: killed('wall_deadline'),
  },
  {
    reason: 'AgentCrash',
    class: 'agent',
    retry: null,
    doc: "The agent's process ended with an error code or by a signal that the harness did not send.",
    matches: result(({ exitCode, signal }) => signal !== null || (exitCode ?? 0) !== 0),
  },
  {
    reason: 'AdapterError',
    class: 'adapter',
    retry: null,
    doc: 'What the runtime left could not be read, through a fault of the adapter.',
    matches: observed('adapter_error'),
  },
  {
    reason: 'TranscriptMissing',
    class: 'adapter',
    retry: null,
    doc: 'The runtime ended in order, and no session of it was found: the adapter looks in the wrong place.',
    matches: observed('transcript_missing', ({ placeholder }) => placeholder !== true),
  },
  {
    reason: 'NoAnswer',
    class: 'agent',
    retry: null,
    doc: "The runtime ended in order, but its session holds no answer of the model, or only the runtime's placeholder.",
    matches: observed('transcript_missing'),
  },
  {
    reason: 'RuntimeStopped',
    class: 'agent',
    retry: null,
    doc: 'The runtime ended with exit code 0 although its last model call had failed or was broken off.',
    matches: result(({ completion }) =>
      STOPPED_BY_RUNTIME.has((completion.stopReason ?? '').toLowerCase().replace(/[^a-z]/g, '')),
    ),
  },
  {
    reason: 'EndUnknown',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The harness recorded no end of the agent, and nothing says why.',
    matches: result(({ exitCode }) => exitCode === null),
  },

  // 5. There is no result: the pod and the machine.
  {
    reason: 'HarnessOutOfMemory',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The harness was killed for its memory limit.',
    matches: withoutResult(({ harnessTerminated }) => harnessTerminated?.reason === 'OOMKilled'),
  },
  {
    reason: 'ImagePullFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'An image of the pod could not be pulled.',
    matches: withoutResult(({ imageFailed }) => imageFailed),
  },
  {
    reason: 'MountFailed',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'A volume, Secret or ConfigMap of the pod could not be mounted.',
    matches: withoutResult(({ mountFailed }) => mountFailed),
  },
  {
    reason: 'QueuedDeadline',
    class: 'infrastructure',
    retry: null,
    doc: 'The pod was not scheduled within the queued bound.',
    matches: withoutResult(({ queuedDeadline }) => queuedDeadline),
  },
  {
    reason: 'StartDeadline',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The shim did not connect within the start bound.',
    matches: withoutResult(({ startDeadline }) => startDeadline),
  },
  {
    reason: 'PodDeadline',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: "The pod's own deadline passed, because the harness did not keep its bounds.",
    matches: withoutResult(({ activeDeadline }) => activeDeadline),
  },
  {
    reason: 'PodLost',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The pod or its node disappeared.',
    matches: withoutResult(({ lost }) => lost),
  },
  {
    reason: 'ResultMissing',
    class: 'infrastructure',
    retry: 'infrastructure',
    doc: 'The harness ended without a result, and nothing says why.',
    matches: ({ result }) => result === null,
  },
];
