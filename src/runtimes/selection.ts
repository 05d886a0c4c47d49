import { InvalidInputError } from '../api/errors.ts';
import { allowsImplicitCodex, classifyRoute, describeRoute, type ModelRoute } from './model-route.ts';
import { normalizeRuntimeId } from './runtime-id.ts';
import { policyEntries, type PolicyEntries } from './selection-config.ts';

/** Id of the built-in agent runtime. */
export const BUILT_IN_HARNESS = 'openclaw';

/** A harness that a plugin registered beside the built-in one. */
export interface PluginHarness {
  readonly id: string;
  /** Whether it can serve a route. It is told the route and nothing else. */
  readonly supports: (route: ModelRoute) => boolean;
}

/** Where the choice came from. */
export const SELECTION_SOURCES = [
  /** The model's entry pins it. */
  'model',
  /** The provider's entry pins it. */
  'provider',
  /** `auto` found a plugin harness for the route. */
  'auto',
  /** `auto` found none: the built-in runtime. */
  'default',
] as const;
export type SelectionSource = (typeof SELECTION_SOURCES)[number];

export interface RuntimeSelection {
  readonly harness: string;
  readonly source: SelectionSource;
  /** One sentence for people. */
  readonly reason: string;
}

export interface SelectionInput {
  /** `spec.runtime.config`; only `models.providers.*` is read. */
  readonly config: Readonly<Record<string, unknown>>;
  /** `provider/model`. It finds the entries of the configuration and selects nothing by itself. */
  readonly modelRef: string;
  /** The effective route (`effectiveRoute`). */
  readonly route: ModelRoute;
  /** In the order of registration: the first that supports the route is taken. */
  readonly harnesses: readonly PluginHarness[];
}

/**
 * Chooses the harness that runs the agent's loop (runtime specification, runtime selection).
 *
 * `agentRuntime.id` of the model's entry decides, else that of the provider's entry; unset or `default` means
 * `auto`. `auto` takes the first registered plugin harness that supports the route, else the built-in runtime.
 * `codex` is taken by `auto` only on an exact official HTTPS Responses route whose requests nobody changed.
 *
 * @throws InvalidInputError when an official host would be called in plain text, or a pinned harness is not
 * registered or does not support the route: a pin is never replaced silently
 */
export function selectAgentRuntime(input: SelectionInput): RuntimeSelection {
  const { route, harnesses } = input;
  const kind = classifyRoute(route);
  const policy = policyOf(policyEntries(input.config, input.modelRef));
  if (policy !== undefined) return pinned(policy, route, harnesses);

  const harness = harnesses.find(
    ({ id, supports }) =>
      normalizeRuntimeId(id) !== BUILT_IN_HARNESS &&
      (normalizeRuntimeId(id) !== 'codex' || allowsImplicitCodex(kind)) &&
      supports(route),
  );
  const where = describeRoute(route);
  if (harness !== undefined) {
    const id = normalizeRuntimeId(harness.id);
    return { harness: id, source: 'auto', reason: `harness ${id} is registered and supports ${where}` };
  }
  return {
    harness: BUILT_IN_HARNESS,
    source: 'default',
    reason: `no registered plugin harness may serve ${where}`,
  };
}

interface Policy {
  readonly id: string;
  readonly source: 'model' | 'provider';
  readonly field: string;
}

/** The pin that holds, or undefined for `auto`. A model's entry that says `default` or `auto` lifts its provider's pin. */
function policyOf({ model, provider }: PolicyEntries): Policy | undefined {
  for (const [source, place] of [
    ['model', model],
    ['provider', provider],
  ] as const) {
    const written = place?.entry.agentRuntime?.id?.trim();
    if (place === undefined || written === undefined || written === '') continue;
    const id = normalizeRuntimeId(written);
    if (id === 'default' || id === 'auto') return undefined;
    return { id, source, field: `${place.field}.agentRuntime.id` };
  }
  return undefined;
}

function pinned(policy: Policy, route: ModelRoute, harnesses: readonly PluginHarness[]): RuntimeSelection {
  const { id, source, field } = policy;
  const selection = { harness: id, source, reason: `the ${source}'s entry sets agentRuntime.id` } as const;
  if (id === BUILT_IN_HARNESS) return selection;
  const harness = harnesses.find((candidate) => normalizeRuntimeId(candidate.id) === id);
  if (harness === undefined) {
    const registered = [BUILT_IN_HARNESS, ...harnesses.map((candidate) => normalizeRuntimeId(candidate.id))];
    throw new InvalidInputError({
      field,
      message: `no harness ${id} is registered`,
      remedy: `Set it to one of ${[...new Set(registered)].join(', ')}, or remove it.`,
    });
  }
  if (!harness.supports(route)) {
    throw new InvalidInputError({
      field,
      message: `harness ${id} does not support ${describeRoute(route)}`,
      remedy: `Set it to ${BUILT_IN_HARNESS}, or change the route.`,
    });
  }
  return selection;
}
