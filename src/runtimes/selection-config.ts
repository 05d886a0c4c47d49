import { z } from 'zod';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { ModelRoute } from './model-route.ts';

/** What runtime selection reads of `spec.runtime.config`; everything else there is the runtime's own. */
const entryShape = {
  agentRuntime: z.looseObject({ id: z.string().max(64).optional() }).optional(),
  api: z.string().max(64).optional(),
  baseUrl: z.string().max(2048).optional(),
};
const configSchema = z.looseObject({
  models: z
    .looseObject({
      providers: z
        .record(
          z.string(),
          z.looseObject({
            ...entryShape,
            models: z.array(z.looseObject({ ...entryShape, id: z.string() })).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
type Entry = Readonly<Record<string, unknown>> & {
  readonly agentRuntime?: { readonly id?: string | undefined } | undefined;
  readonly api?: string | undefined;
  readonly baseUrl?: string | undefined;
};

/** The two entries that may hold a policy for a model, with their places in the configuration. */
export interface PolicyEntries {
  readonly provider: { readonly entry: Entry; readonly field: string } | undefined;
  readonly model: { readonly entry: Entry; readonly field: string } | undefined;
}

/** Fields of an entry that change what is sent to a provider. */
const REQUEST_FIELDS = ['headers', 'params', 'request', 'extraHeaders', 'extraBody', 'authHeader'] as const;

/**
 * Finds the entries of a model and of its provider under `models.providers`.
 *
 * @param modelRef `provider/model`; the model's part may hold further slashes
 * @throws InvalidInputError when the reference or the configuration is not what it should be
 */
export function policyEntries(config: Readonly<Record<string, unknown>>, modelRef: string): PolicyEntries {
  const slash = modelRef.indexOf('/');
  if (slash < 1 || slash === modelRef.length - 1) {
    throw new InvalidInputError({
      field: 'model',
      message: `${JSON.stringify(modelRef)} is not a model reference`,
      remedy: 'Write it as provider/model.',
    });
  }
  const providerId = modelRef.slice(0, slash);
  const modelId = modelRef.slice(slash + 1);
  const providers = parseConfig(config).models?.providers ?? {};
  const provider = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined;
  if (provider === undefined) return { provider: undefined, model: undefined };
  const field = `spec.runtime.config.models.providers.${providerId}`;
  const index = provider.models?.findIndex((candidate) => candidate.id === modelId) ?? -1;
  const model = provider.models?.[index];
  return {
    provider: { entry: provider, field },
    model: model === undefined ? undefined : { entry: model, field: `${field}.models[${index}]` },
  };
}

/**
 * The effective route of a model: what its entry says, else its provider's, else `base`; with the names of the
 * fields by which the configuration changes requests.
 *
 * @param base the route where the configuration says nothing
 */
export function effectiveRoute(
  config: Readonly<Record<string, unknown>>,
  modelRef: string,
  base: Pick<ModelRoute, 'api' | 'baseUrl'>,
): ModelRoute {
  const { provider, model } = policyEntries(config, modelRef);
  const entries = [model?.entry, provider?.entry].filter((entry) => entry !== undefined);
  const baseUrl = entries.map((entry) => entry.baseUrl).find((address) => address !== undefined);
  const authored: string[] = REQUEST_FIELDS.filter((name) =>
    entries.some((entry) => isAuthored(entry[name])),
  );
  if (baseUrl !== undefined && baseUrl !== base.baseUrl) authored.push('baseUrl');
  return {
    api: entries.map((entry) => entry.api).find((api) => api !== undefined) ?? base.api,
    baseUrl: baseUrl ?? base.baseUrl,
    authored,
  };
}

/** An empty object or list changes no request. */
function isAuthored(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function parseConfig(config: Readonly<Record<string, unknown>>): z.output<typeof configSchema> {
  const parsed = configSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue): InputProblem => ({
    field: ['spec.runtime.config', ...issue.path.map(String)].join('.'),
    message: issue.message,
  }));
  const [first, ...rest] = problems;
  throw new InvalidInputError(first === undefined ? { message: 'is invalid' } : [first, ...rest]);
}
