import { join } from 'node:path';
import { usageSchema } from '../../api/attempt.ts';
import { runtimeSpecSchema } from '../../api/benchmark-run.ts';
import { harnessRequestSchema, type HarnessRequest } from '../../api/container-requests.ts';
import { InfrastructureError, InvalidInputError, messageOf } from '../../api/errors.ts';
import { ENV, PORTS, TRIAL_GRACE_SECONDS } from '../../api/pod-contract.ts';
import { attemptLayout, trialLayout } from '../../api/run-layout.ts';
import { publicScenarioSchema } from '../../api/suite-index.ts';
import { OPERATOR_VERSION } from '../../api/version.ts';
import { artifactsOf } from '../../attempt/artifacts-of.ts';
import { runAttempt } from '../../attempt/run-attempt.ts';
import { runtimeVersionOf } from '../../attempt/run-facts.ts';
import { readJsonRecord } from '../../files/durable.ts';
import { startAttemptEndpoint, type AttemptEndpoint } from '../../gateway/attempt-endpoint.ts';
import { adapterFor } from '../../runtimes/registry.ts';
import { mountsOf, type Mounts } from '../mounts.ts';
import { readRequest, requiredVariable, type Environment } from '../request.ts';
import { terminationMessage } from '../termination-message.ts';
import { openPodExecutor } from './pod-executor.ts';
import { ProgressReport, type AttemptYield } from './progress-report.ts';

/** Kept of the grace period for writing records and report after a collection that was cut short. */
const GRACE_MARGIN_SECONDS = 15;

export interface HarnessWorld {
  readonly env: Environment;
  /** Aborted by SIGTERM: the pod is being ended. */
  readonly sigterm: AbortSignal;
}

/**
 * The container `harness`: runs one attempt of a trial with the shim in the container beside it, and reports to the
 * controller through its termination message. What goes wrong after the request was understood is in that report.
 *
 * @returns whether a report with a result was written
 * @throws InvalidInputError when the controller's request cannot be used
 */
export async function runHarness({ env, sigterm }: HarnessWorld): Promise<boolean> {
  const request = readRequest(harnessRequestSchema, env);
  const { trial, attempt } = request;
  const podUID = requiredVariable(env, ENV.POD_UID);
  const report = new ProgressReport({ trial, attempt, podUID }, terminationMessage(env));
  const collectUntil = new AbortController();
  let graceTimer: NodeJS.Timeout | undefined;
  const onSigterm = () => {
    report.sigterm();
    graceTimer = setTimeout(() => collectUntil.abort(), (TRIAL_GRACE_SECONDS - GRACE_MARGIN_SECONDS) * 1000);
  };
  if (sigterm.aborted) onSigterm();
  else sigterm.addEventListener('abort', onSigterm, { once: true });
  try {
    const mounts = mountsOf(env);
    const port = Number(env[ENV.SHIM_PORT] ?? PORTS.shim);
    const executor = await openPodExecutor({ mounts, limits: request.limits, port });
    let endpoint: AttemptEndpoint | null = null;
    try {
      endpoint = await modelEndpoint(request, env);
      const attemptDir = trialLayout(mounts.trial).attempt(attempt).root;
      const runtime = runtimeSpecSchema.parse(request.runtime);
      const adapter = adapterFor(runtime.id);
      const result = await runAttempt(
        {
          trial,
          attempt,
          podUID,
          scenario: await publicScenario(mounts, request),
          publicDir: mounts.public,
          attemptDir,
          adapter,
          runtime: { ...runtime, id: adapter.id },
          modelEndpoint: endpoint?.url ?? null,
          ...(endpoint === null ? {} : { modelAccess: endpoint }),
          modelId: request.modelId,
          scriptedDir: adapter.id === 'scripted' ? mounts.scripted : null,
          timeouts: request.timeouts,
          versions: { operator: OPERATOR_VERSION, runtime: runtimeVersionOf(adapter) },
          signal: sigterm,
          onStep: (event) => report.step(event),
          collectUntil: collectUntil.signal,
        },
        executor,
      );
      return report.done(result, await yieldOf(mounts, attemptDir));
    } finally {
      await endpoint?.close();
      executor.close();
    }
  } catch (error) {
    report.fault(reasonOf(error), messageOf(error));
    return false;
  } finally {
    clearTimeout(graceTimer);
    sigterm.removeEventListener('abort', onSigterm);
  }
}

/**
 * Where the agent finds its model: on the pod's loopback device, at the same address in every pod, without a
 * credential. Null where the run has no model.
 */
async function modelEndpoint(request: HarnessRequest, env: Environment): Promise<AttemptEndpoint | null> {
  const { gatewayUrl } = request;
  if (gatewayUrl === null) return null;
  const port = Number(env[ENV.MODEL_PORT] ?? PORTS.model);
  const token = requiredVariable(env, ENV.GATEWAY_TOKEN);
  return await startAttemptEndpoint({ port, gatewayUrl, token });
}

async function publicScenario(mounts: Mounts, { scenarioId }: HarnessRequest) {
  const file = join(mounts.public, 'public.json');
  const scenario = await readJsonRecord(publicScenarioSchema, file);
  if (scenario?.id === scenarioId) return scenario;
  throw new InfrastructureError(
    'SuiteMissing',
    scenario === undefined ? `${file} is missing` : `${file} is of ${scenario.id}, not of ${scenarioId}`,
  );
}

async function yieldOf(mounts: Mounts, attemptDir: string): Promise<AttemptYield> {
  const artifacts = await artifactsOf(mounts.trial, attemptDir);
  const usage = await readJsonRecord(usageSchema, attemptLayout(attemptDir).usageJson);
  return {
    artifacts: artifacts === null ? null : { files: artifacts.files, bytes: artifacts.bytes },
    usage: {
      toolCalls: usage?.toolCalls ?? 0,
      totalTokens: usage?.totalTokens ?? null,
      costUsd: usage?.costUsd ?? null,
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof InfrastructureError) return error.reason;
  return error instanceof InvalidInputError ? 'InvalidRequest' : 'HarnessFault';
}
