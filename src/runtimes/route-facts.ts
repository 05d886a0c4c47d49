import type { ModelSpec, RuntimeSpec } from '../api/benchmark-run.ts';
import type { RunRecord } from '../api/run.ts';
import { checkAddress, describeRoute, publicAddress, type ModelRoute } from './model-route.ts';
import { resolveRuntimeId } from './runtime-id.ts';
import { effectiveRoute } from './selection-config.ts';
import { selectAgentRuntime, type PluginHarness } from './selection.ts';

/** Provider id under which a run's model stands in the configuration of OpenClaw. */
export const BENCH_PROVIDER = 'bench';

/** Where an agent finds its model endpoint; the port is another one on a machine that runs several attempts. */
const ATTEMPT_ENDPOINT = 'http://127.0.0.1:7071/v1';

/**
 * Provenance of a run's runtime and model: which harness runtime selection chose and why, and which way a model
 * call takes. An agent always calls the endpoint of its attempt, which is a custom endpoint for its runtime, so
 * a run never goes the official route by itself; the facts say so.
 *
 * @throws InvalidInputError when the configuration contradicts the rules of runtime selection
 */
export function routeFacts(
  runtime: RuntimeSpec,
  model: ModelSpec | undefined,
  harnesses: readonly PluginHarness[] = [],
): Pick<RunRecord['facts'], 'runtimeSelection' | 'modelRoute'> {
  const id = resolveRuntimeId(runtime.id);
  if (model?.baseURL !== undefined) checkAddress(model.baseURL, 'spec.model.baseURL');
  const named = `${id}, named by spec.runtime.id`;
  if (model === undefined) {
    return { runtimeSelection: `${named}; it asks no model`, modelRoute: 'none: no model is asked' };
  }
  const base = { api: model.api, baseUrl: ATTEMPT_ENDPOINT };
  const upstream = model.baseURL === undefined ? 'the scripted model' : publicAddress(model.baseURL);
  const modelRoute = (route: ModelRoute) =>
    route.baseUrl === ATTEMPT_ENDPOINT
      ? `${describeRoute(route)}: this run's gateway, which forwards to ${upstream}`
      : `${describeRoute(route)}, set by spec.runtime.config and not this run's gateway`;
  if (id !== 'openclaw' && id !== 'openclaw-edict') {
    return {
      runtimeSelection:
        id === 'scripted'
          ? `${named}; it asks the model once a turn and follows its script`
          : `${named}; only OpenClaw selects among harnesses`,
      modelRoute: modelRoute({ ...base, authored: [] }),
    };
  }
  const modelRef = `${BENCH_PROVIDER}/${model.id}`;
  const route = effectiveRoute(runtime.config, modelRef, base);
  const { harness, source, reason } = selectAgentRuntime({
    config: runtime.config,
    modelRef,
    route,
    harnesses,
  });
  return { runtimeSelection: `${harness} (${source}): ${reason}`, modelRoute: modelRoute(route) };
}
