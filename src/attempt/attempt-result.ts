import type { AttemptMeta } from '../api/attempt-meta.ts';
import { ATTEMPT_SCHEMA_VERSION, type AttemptResult, type Completion } from '../api/attempt.ts';
import type { Isolation, KillReason } from '../api/vocabulary.ts';
import type { SessionReading } from '../runtimes/adapter.ts';
import type { Journal } from './journal.ts';
import { RUNTIME_PREFIX_SHA256 } from './prompt.ts';
import type { ProbedProcess } from './records/runtime-probe.ts';
import type { AttemptRequest } from './attempt-request.ts';
import type { TurnRecord } from './run-turn.ts';

/** What the turns of an attempt came to. */
export interface Course {
  turns: number;
  /** The last turn; null when there was none. */
  last: TurnRecord | null;
  killReason: KillReason | null;
  oomKills: number;
  session: SessionReading;
  readonly continuations: AttemptMeta['continuations'];
  /** Processes that the last turn left. */
  processes: readonly ProbedProcess[];
  probedAt: string;
}

export interface AttemptFacts {
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly wallClockMs: number;
  readonly promptSha256: string;
  readonly completion: Completion;
  readonly isolation: Isolation;
  readonly nodeVersion: string;
  /** null when the workspace was not collected. */
  readonly workspaceDigest: string | null;
}

/** meta.json of an attempt. Pure. */
export function buildMeta(
  request: AttemptRequest,
  journal: Journal,
  course: Course,
  facts: AttemptFacts,
): AttemptMeta {
  const { completion } = facts;
  const { exitCode, signal, ...numbers } = numbersOf(journal, course, facts);
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    trial: request.trial,
    attempt: request.attempt,
    taskId: request.scenario.id,
    backend: request.adapter.id,
    model: request.modelId,
    sessionId: course.session.sessionId,
    ...numbers,
    continuations: course.continuations,
    supervisionDecisions: [],
    agentExitCode: exitCode,
    agentSignal: signal,
    executorCompleted: completion.completed,
    executorCompletionSignal: completion.signal,
    executorCompletionReason: completion.reason,
    executorCompletionConflict: completion.conflict,
    timeouts: request.timeouts,
    isolation: facts.isolation,
    dispatch: journal.dispatched,
    stagedWorkspaceDigest: request.scenario.workspaceDigest,
    workspaceDigest: facts.workspaceDigest,
    promptSha256: facts.promptSha256,
    promptPrefixSha256: request.scenario.format === 'task' ? RUNTIME_PREFIX_SHA256 : null,
    versions: {
      ...request.versions,
      adapter: request.adapter.version,
      toolMap: request.adapter.toolMap.version,
      node: facts.nodeVersion,
    },
  };
}

/** result.json of an attempt; collected is what has a manifest. Pure. */
export function buildResult(
  request: AttemptRequest,
  journal: Journal,
  course: Course,
  facts: AttemptFacts & { readonly manifestDigest: string | null },
): AttemptResult {
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    trial: request.trial,
    attempt: request.attempt,
    podUID: request.podUID,
    ...numbersOf(journal, course, facts),
    observations: journal.observations,
    completion: facts.completion,
    collected: facts.manifestDigest !== null,
    manifestDigest: facts.manifestDigest,
    isolation: facts.isolation,
  };
}

function numbersOf(journal: Journal, course: Course, facts: AttemptFacts) {
  const exit = course.last?.end.kind === 'exit' ? course.last.end : null;
  return {
    startedAt: facts.startedAt.toISOString(),
    endedAt: facts.endedAt.toISOString(),
    turns: course.turns,
    killReason: course.killReason,
    exitCode: exit?.code ?? null,
    signal: exit?.signal ?? null,
    oomKills: course.oomKills,
    runtimeMs: Math.round(journal.runtimeMs),
    wallClockMs: Math.round(facts.wallClockMs),
  };
}
