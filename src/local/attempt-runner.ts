import { ATTEMPT_SCHEMA_VERSION, type AttemptResult } from '../api/attempt.ts';
import { InfrastructureError } from '../api/errors.ts';
import type { TrialAttempt, TrialRecord } from '../api/trial.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import type { AttemptEndpoint } from '../gateway/attempt-endpoint.ts';
import { readPublicScenario } from '../suite/frozen.ts';
import type { ExecuteOptions } from './execute-run.ts';
import { launchLocalExecutor, type LocalExecutor } from './executor/local-executor.ts';
import { agentLimits } from '../attempt/agent-limits.ts';
import type { LocalCaller, LocalModel } from './model-gateway.ts';
import type { OpenRun } from './open-run.ts';

/** Makes the step that runs one attempt of a trial on this machine, in an executor of its own. */
export function createAttemptRunner(
  { layout, record }: OpenRun,
  {
    spec,
    adapter,
    host,
    model,
  }: Pick<ExecuteOptions, 'spec' | 'adapter' | 'host'> & { readonly model: LocalModel | null },
): (trial: TrialRecord, attempt: TrialAttempt, signal: AbortSignal) => Promise<AttemptResult> {
  const limits = agentLimits(spec);
  const versions = { operator: OPERATOR_VERSION, runtime: record.facts.runtimeVersion };

  return async (trial, attempt, signal) => {
    const startedAt = new Date();
    let executor: LocalExecutor;
    let endpoint: AttemptEndpoint | null = null;
    try {
      endpoint = (await model?.endpointFor(callerOf(trial, attempt))) ?? null;
      executor = await launchLocalExecutor(host, { trial: trial.name, attempt: attempt.number, limits });
    } catch (error) {
      await endpoint?.close();
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
          modelEndpoint: endpoint?.url ?? null,
          ...(endpoint === null ? {} : { modelAccess: endpoint }),
          modelId: spec.model?.id ?? null,
          scriptedDir: adapter.id === 'scripted' ? layout.suite.scriptedDir(trial.scenarioId) : null,
          timeouts: trial.timeouts,
          versions,
          signal,
        },
        executor,
      );
    } finally {
      await endpoint?.close();
      await model?.ended(trial.name, attempt.number);
      await executor.dispose();
    }
  };
}

function callerOf(trial: TrialRecord, { number, podUID }: TrialAttempt): LocalCaller {
  return { trial: trial.name, attempt: number, podUID, timeouts: trial.timeouts };
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
