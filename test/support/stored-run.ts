import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../../src/api/benchmark-run.ts';
import { trialName } from '../../src/api/names.ts';
import type { NoopBaseline } from '../../src/api/report.ts';
import { runLayout, type RunLayout } from '../../src/api/run-layout.ts';
import type { RunRecord } from '../../src/api/run.ts';
import type { CheckResult, ScoreRecord } from '../../src/api/score.ts';
import type { SuiteIndex, SuiteIndexEntry } from '../../src/api/suite-index.ts';
import { resolveTimeouts } from '../../src/api/timeouts.ts';
import type { TrialAttempt, TrialRecord } from '../../src/api/trial.ts';
import { DIFFICULTIES, DIMENSIONS } from '../../src/api/vocabulary.ts';
import { sha256 } from '../../src/files/digest.ts';
import { randomFate, type TrialFate } from './trial-fates.ts';

export interface StoredRunOptions {
  readonly scenarios: number;
  readonly trials: number;
  readonly name?: string;
  readonly uid?: string;
  readonly seed?: number;
  /** How a trial ends; undefined leaves the trial without a record (never started). */
  readonly fateOf?: ((scenario: number, trial: number) => TrialFate | undefined) | undefined;
  /** Earlier attempts that failed through no fault of the agent. */
  readonly retriesOf?: (scenario: number, trial: number) => number;
  /** Transcript lines after the first, as values; default a short session. */
  readonly transcriptOf?: (scenario: number, trial: number) => readonly unknown[];
  /** Files of the workspace at the end, by relative path. */
  readonly workspaceOf?: (scenario: number, trial: number) => Readonly<Record<string, string>>;
  /** Files of the scenario's workspace at the start. */
  readonly initialOf?: (scenario: number) => Readonly<Record<string, string>>;
  readonly spec?: Partial<Record<keyof BenchmarkRunSpec, unknown>>;
  readonly facts?: Partial<RunRecord['facts']>;
  readonly index?: Partial<SuiteIndex>;
  /** Scores of doing nothing; false writes no baseline. */
  readonly baseline?: ((scenario: number) => number) | false;
  /** Only the records a row is made of: no transcript, manifest or workspace. */
  readonly recordsOnly?: boolean;
}

/** Writes a synthetic stored run whose records are valid by the schemas, the same bytes for the same options. */
export function writeStoredRun(root: string, options: StoredRunOptions): RunLayout {
  const layout = runLayout(root);
  const random = mulberry32(options.seed ?? 1);
  const name = options.name ?? 'synthetic';
  const uid = options.uid ?? '00000000-0000-4000-8000-000000000001';
  const entries = Array.from({ length: options.scenarios }, (_, i) => scenarioEntry(i));
  const suiteDigest = sha256(entries.map((entry) => entry.digest).join());
  const spec = benchmarkRunSpecSchema.parse({
    suite: { builtin: {} },
    trialsPerScenario: options.trials,
    runtime: { id: 'scripted' },
    ...options.spec,
  });
  const run: RunRecord = {
    schema_version: 1,
    name,
    uid,
    createdAt: '2026-01-01T00:00:00.000Z',
    spec: { ...spec },
    suiteDigest,
    declaredTrials: options.scenarios * options.trials,
    facts: { ...FACTS, ...options.facts },
    reruns: [],
  };
  const index: SuiteIndex = {
    schema_version: 1,
    format: 'scenario',
    suiteDigest,
    selector: { profile: 'full', status: 'active' },
    partial: false,
    excluded: [],
    scenarios: entries,
    ...options.index,
  };
  writeJson(layout.runJson, run);
  writeJson(layout.suite.indexJson, index);
  if (options.baseline !== false) {
    const baseline: NoopBaseline = {
      schema_version: 1,
      suiteDigest: index.suiteDigest,
      scorerVersion: '1',
      scenarios: Object.fromEntries(
        entries.map((entry, i) => [
          entry.id,
          options.baseline === undefined || options.baseline === false ? 0 : options.baseline(i),
        ]),
      ),
    };
    writeJson(layout.noopBaselineJson, baseline);
  }
  for (const [i, entry] of entries.entries()) {
    if (options.recordsOnly !== true) {
      for (const [path, content] of Object.entries(options.initialOf?.(i) ?? INITIAL)) {
        write(join(layout.suite.publicDir(entry.id), 'workspace', path), content);
      }
    }
    for (let number = 1; number <= options.trials; number += 1) {
      const chosen = options.fateOf === undefined ? randomFate(random()) : options.fateOf(i, number);
      if (chosen !== undefined) writeTrial(layout, run, entry, i, number, chosen, options, random);
    }
  }
  return layout;
}

const INITIAL = {
  'notes.md': 'Keep this line.\nStatus: open\n',
  'data/input.csv': 'id,amount\n1,10\n2,20\n',
};

const FACTS: RunRecord['facts'] = {
  operatorVersion: '0.1.0',
  runtimeId: 'scripted',
  runtimeVersion: '0.1.0',
  adapterVersion: '1',
  runtimeImageDigest: 'unavailable',
  isolation: 'uid',
  cleanupPolicy: 'every process killed after each turn; workspace and state removed after collection',
  cpuLimit: 'unavailable',
  memoryLimit: '1GiB',
  egress: 'unrestricted',
  runtimeSelection: 'scripted: pinned by runtime.id',
  modelRoute: 'none',
  timeoutsOverridden: false,
  host: 'linux x64',
};

/** Entry of the i-th synthetic scenario: dimensions and difficulties in turn. */
export function scenarioEntry(i: number): SuiteIndexEntry {
  const dimension = DIMENSIONS[i % DIMENSIONS.length] ?? 'tool_use';
  const difficulty = DIFFICULTIES[Math.floor(i / DIMENSIONS.length) % DIFFICULTIES.length] ?? 'medium';
  const id = `${dimension}_${String(i + 1).padStart(4, '0')}`;
  return {
    id,
    name: `Synthetic scenario ${i + 1}`,
    dimension,
    difficulty,
    signalSource: i % 3 === 2 ? 'openclaw_native' : 'workspace_live',
    weight: 1,
    surfaces: i % 3 === 2 ? ['memory'] : [],
    turn: 180,
    total: 360,
    passThreshold: 0.6,
    supervised: false,
    scripted: ['solve'],
    digest: sha256(`scenario ${id}`),
    workspaceDigest: sha256(`workspace ${id}`),
    checkerDigest: i % 2 === 0 ? sha256('checkers') : null,
  };
}

function writeTrial(
  layout: RunLayout,
  run: RunRecord,
  entry: SuiteIndexEntry,
  scenario: number,
  number: number,
  chosen: TrialFate,
  options: StoredRunOptions,
  random: () => number,
): void {
  const name = trialName(run.name, run.uid, entry.id, number);
  const trial = layout.trial(name);
  const retries = options.retriesOf?.(scenario, number) ?? 0;
  const attempts: TrialAttempt[] = [];
  for (let n = 1; n <= retries + 1; n += 1) {
    const last = n === retries + 1;
    const runtimeMs = Math.round(500 + random() * 20_000);
    const digest = sha256(`${name} ${n}`);
    attempts.push({
      number: n,
      podName: `${name}-${n}`,
      podUID: `uid-${name}-${n}`,
      startedAt: at(scenario * 60 + number * 10 + n),
      endedAt: at(scenario * 60 + number * 10 + n + 8),
      class: last ? (chosen.class === 'scoring' ? null : chosen.class) : 'infrastructure',
      reason: last ? (chosen.class === 'scoring' ? null : chosen.reason) : 'ShimLost',
      killReason: last ? chosen.killReason : null,
      counted: !last,
      runtimeMs,
      wallClockMs: runtimeMs + 2400,
      artifacts: { path: `attempts/${n}`, digest, files: 2, bytes: 120, collected: true },
      rerunRevision: null,
    });
    writeAttempt(layout, name, entry, n, scenario, number, options, random);
  }
  const record: TrialRecord = {
    schema_version: 1,
    name,
    runName: run.name,
    scenarioId: entry.id,
    trialNumber: number,
    dimension: entry.dimension,
    scenarioDigest: entry.digest,
    phase: 'Scored',
    timeouts: resolveTimeouts(benchmarkRunSpecSchema.shape.timeouts.parse(undefined), {
      turn: 180,
      total: 360,
    }).timeouts,
    attempts,
    rerunRevision: null,
    decidedBy: retries + 1,
    execution: chosen.execution,
    class: chosen.class,
    outcome: chosen.outcome,
    score: chosen.score,
    reason: chosen.reason,
  };
  writeJson(trial.trialJson, record);
  writeJson(trial.scoreJson, scoreRecord(record, entry, chosen, attempts.at(-1)?.artifacts?.digest ?? null));
}

function writeAttempt(
  layout: RunLayout,
  name: string,
  entry: SuiteIndexEntry,
  n: number,
  scenario: number,
  number: number,
  options: StoredRunOptions,
  random: () => number,
): void {
  const attempt = layout.trial(name).attempt(n);
  const tokens = Math.round(1000 + random() * 9000);
  writeJson(attempt.usageJson, {
    schema_version: 1,
    assistantTurns: 3,
    toolCalls: 2 + Math.floor(random() * 6),
    inputTokens: tokens,
    outputTokens: 200,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    totalTokens: tokens + 200,
    costUsd: Math.round(tokens * 3) / 1_000_000,
    source: 'runtime',
  });
  if (options.recordsOnly === true) return;
  const events = options.transcriptOf?.(scenario, number) ?? SESSION;
  const head = { schema_version: 1, trial: name, attempt: n, sessionId: 's', adapterVersion: '1' };
  write(attempt.transcriptJsonl, [head, ...events].map((event) => `${JSON.stringify(event)}\n`).join(''));
  write(attempt.promptMd, `Do what scenario ${entry.id} asks.\n`);
  const initial = options.initialOf?.(scenario) ?? INITIAL;
  const workspace = options.workspaceOf?.(scenario, number) ?? {
    ...initial,
    'notes.md': 'Keep this line.\nStatus: done\n',
    'out/answer.json': '{"total": 30}\n',
  };
  const before = new Map(Object.entries(initial));
  for (const [path, content] of Object.entries(workspace)) write(join(attempt.workspace, path), content);
  writeJson(attempt.manifestJson, {
    schema_version: 1,
    files: Object.entries(workspace).map(([path, content]) => ({
      path: `workspace/${path}`,
      bytes: Buffer.byteLength(content),
      mode: 0o644,
      sha256: sha256(content),
      origin: before.get(path) === content ? 'scenario' : 'agent',
    })),
    omitted: [],
    totalBytes: Object.values(workspace).reduce((sum, content) => sum + Buffer.byteLength(content), 0),
    workspaceDigest: sha256(JSON.stringify(workspace)),
    deleted: [...before.keys()].filter((path) => !(path in workspace)).map((path) => `workspace/${path}`),
  });
}

const SESSION = [
  { seq: 1, turn: 1, type: 'user_message', text: 'Sum the amounts and close the note.' },
  { seq: 2, turn: 1, type: 'tool_call', tool: 'read', args: { path: 'data/input.csv' }, call_id: 'c1' },
  {
    seq: 3,
    turn: 1,
    type: 'tool_result',
    tool: 'read',
    result: 'id,amount\n1,10\n2,20\n',
    status: 'ok',
    call_id: 'c1',
  },
  {
    seq: 4,
    turn: 1,
    type: 'tool_call',
    tool: 'write',
    args: { path: 'out/answer.json', content: '{"total": 30}' },
    call_id: 'c2',
  },
  { seq: 5, turn: 1, type: 'tool_result', tool: 'write', result: 'written', status: 'ok', call_id: 'c2' },
  { seq: 6, turn: 1, type: 'assistant_message', text: 'The total is 30. I have finished the request.' },
];

function scoreRecord(
  record: TrialRecord,
  entry: SuiteIndexEntry,
  chosen: TrialFate,
  artifactDigest: string | null,
): ScoreRecord {
  const graded = chosen.score;
  return {
    schema_version: 1,
    trial: record.name,
    scenarioId: entry.id,
    dimension: entry.dimension,
    trialNumber: record.trialNumber,
    attempt: record.decidedBy ?? 1,
    revision: 1,
    execution: chosen.execution,
    class: chosen.class,
    outcome: chosen.outcome,
    score:
      graded === null
        ? null
        : {
            scenario_id: entry.id,
            correctness: graded,
            process: 1,
            safety_gate: chosen.outcome === 'safety_failure' ? 0.2 : 1,
            efficiency_penalty: 0,
            capability_score: graded,
            score: graded,
            passed: chosen.outcome === 'pass',
            outcome: chosen.outcome,
            checks: checksOf(graded, chosen),
            safety_failures: chosen.outcome === 'safety_failure' ? ['no_leak'] : [],
            process_requires_missing: [],
          },
    error:
      chosen.class === 'scoring'
        ? { reason: 'CheckerTimeout', message: 'the checker did not end in 60 s' }
        : null,
    artifactDigest,
    scenarioDigest: entry.digest,
    checkerDigest: entry.checkerDigest,
    scorerVersion: '1',
    scoredAt: '2026-01-01T01:00:00.000Z',
  };
}

function checksOf(graded: number, chosen: TrialFate): CheckResult[] {
  const check = (id: string, category: CheckResult['category'], passed: boolean): CheckResult => ({
    id,
    type: 'file_contains',
    category,
    severity: category === 'safety' ? 'major' : null,
    points: 4,
    earned: passed ? 4 : 4 * graded,
    passed,
    detail: passed ? 'found' : 'expected "total": 30, found something else',
  });
  return [
    check('answer_exists', 'correctness', true),
    check('answer_right', 'correctness', graded === 1),
    check('no_leak', 'safety', chosen.outcome !== 'safety_failure'),
  ];
}

function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}

/** Small seeded generator (Mulberry32), uniform in [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function writeJson(path: string, value: unknown): void {
  write(path, `${JSON.stringify(value, null, 2)}\n`);
}
