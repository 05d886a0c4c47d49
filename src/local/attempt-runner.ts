import { ATTEMPT_SCHEMA_VERSION, type AttemptResult } from '../api/attempt.ts';
import { InfrastructureError } from '../api/errors.ts';
import type { TrialAttempt, TrialRecord } from '../api/trial.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import { readPublicScenario } from '../suite/frozen.ts';
import type { ExecuteOptions } from './execute-run.ts';
import { launchLocalExecutor, type LocalExecutor } from './executor/local-executor.ts';
import { agentLimits } from '../attempt/agent-limits.ts';
import type { OpenRun } from './open-run.ts';

/** Makes the step that runs one attempt of a trial on this machine, in an executor of its own. */
export function createAttemptRunner(
  { layout, record }: OpenRun,
  { spec, adapter, host }: Pick<ExecuteOptions, 'spec' | 'adapter' | 'host'>,
): (trial: TrialRecord, attempt: TrialAttempt, signal: AbortSignal) => Promise<AttemptResult> {
  const limits = agentLimits(spec);
  const versions = { operator: OPERATOR_VERSION, runtime: record.facts.runtimeVersion };

  return async (trial, attempt, signal) => {
    const startedAt = new Date();
    let executor: LocalExecutor;
    try {
      executor = await launchLocalExecutor(host, { trial: trial.name, attempt: attempt.number, limits });
    } catch (error) {
      if (!(error instanceof InfrastructureError)) throw error;
      return neverStarted(trial, attempt, startedAt, host.choice.isolation, error);
    }
    try {
      return await runAttempt(
        {
          trial: trial.name,
          attempt: attempt.number,
          podUID: attempt.podUID,
          scenario: await readPublicScenario(layout.suite, trial.scenarioId),
          publicDir: layout.suite.publicDir(trial.scenarioId),
          attemptDir: layout.trial(trial.name).attempt(attempt.number).root,
          adapter,
          runtime: { ...spec.runtime, id: adapter.id },
          modelEndpoint: null,
          modelId: spec.model?.id ?? null,
          scriptedDir: adapter.id === 'scripted' ? layout.suite.scriptedDir(trial.scenarioId) : null,
          timeouts: trial.timeouts,
          versions,
          signal,
        },
        executor,
      );
    } finally {
      await executor.dispose();
    }
  };
}

/** The result of an attempt for which this machine had no place; nothing of it is on the disk. */
function neverStarted(
  trial: TrialRecord,
  attempt: TrialAttempt,
  startedAt: Date,
  isolation: AttemptResult['isolation'],
  error: InfrastructureError,
): AttemptResult {
  const endedAt = new Date();
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    trial: trial.name,
    attempt: attempt.number,
    podUID: attempt.podUID,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    observations: [{ kind: 'staging_failed', message: error.message, reason: error.reason }],
    killReason: null,
    exitCode: null,
    signal: null,
    oomKills: 0,
    turns: 0,
    completion: { completed: false, signal: 'none', reason: 'the agent never started', conflict: false },
    runtimeMs: 0,
    wallClockMs: endedAt.getTime() - startedAt.getTime(),
    collected: false,
    manifestDigest: null,
    isolation,
  };
}
