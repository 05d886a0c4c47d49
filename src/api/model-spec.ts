import { z } from 'zod';
import { withRules } from './rules.ts';
import { name, opaqueMap } from './schema-parts.ts';
import { MODEL_APIS } from './vocabulary.ts';

const count = z.int().positive().max(1_000_000_000_000);
const usd = z.number().positive().max(1_000_000_000);
const price = z.number().nonnegative().max(1_000_000).optional();

const cassetteSchema = withRules(
  z.strictObject({
    mode: z
      .enum(['off', 'record', 'replay'])
      .default('off')
      .describe('`record` stores every model call; `replay` answers from stored calls and measures nothing.'),
    claim: name.optional().describe("PersistentVolumeClaim in the run's namespace that holds the calls."),
  }),
  [
    {
      message:
        'a cassette needs a volume; add claim with the name of a PersistentVolumeClaim, or set mode to off',
      cel: "self.mode == 'off' || has(self.claim)",
      // One machine keeps cassettes in a folder that is named on the command line.
    },
  ],
);

const modelObject = z.strictObject({
  id: z.string().min(1).max(256).describe("The provider's name of the model."),
  api: z.enum(MODEL_APIS).describe('Protocol of the provider; `scripted` needs no provider.'),
  baseURL: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .meta({ pattern: '^https?://.' })
    .optional()
    .describe("The provider's address, without the path of the protocol."),
  apiKeySecretRef: z
    .strictObject({ name: name.describe('Name of the Secret.'), key: name.describe('Key in the Secret.') })
    .optional()
    .describe("The provider's key: a Secret in the run's namespace. Only the gateway is given it."),
  parameters: opaqueMap.default({}).describe('Parameters of every call, e.g. `temperature`.'),
  limits: z
    .strictObject({
      concurrency: count.optional().describe('Calls at once.'),
      requestsPerMinute: count.optional().describe('Calls a minute.'),
      tokensPerMinute: count.optional().describe('Tokens a minute, input and output.'),
    })
    .default({})
    .describe('What the gateway lets through at most; calls beyond wait.'),
  pricing: z
    .strictObject({
      inputPerMillion: price.describe('USD for a million input tokens.'),
      outputPerMillion: price.describe('USD for a million output tokens.'),
      cacheReadPerMillion: price.describe('USD for a million input tokens read from a cache.'),
      cacheWritePerMillion: price.describe('USD for a million input tokens written to a cache.'),
    })
    .optional()
    .describe('Prices, for cost columns and budgets in USD.'),
  budget: z
    .strictObject({
      usd: usd.optional().describe('USD of the whole run.'),
      tokens: count.optional().describe('Tokens of the whole run.'),
    })
    .optional()
    .describe('Reached, the run ends: trials that were not begun are cancelled.'),
  attemptLimits: z
    .strictObject({
      usd: usd.optional().describe('USD of one attempt.'),
      tokens: count.optional().describe('Tokens of one attempt.'),
      modelCalls: count.optional().describe('Model calls of one attempt.'),
      toolCalls: count.optional().describe('Tool calls of one attempt.'),
    })
    .optional()
    .describe('What one attempt may use.'),
  cassette: cassetteSchema.optional().describe('Recording and replaying of model calls.'),
});

export const modelSpecSchema = withRules(modelObject, [
  {
    message: "the provider's address is missing; add baseURL, or set api to scripted",
    cel: "self.api == 'scripted' || has(self.baseURL)",
    field: ['baseURL'],
    holds: (model) => model.api === 'scripted' || model.baseURL !== undefined,
  },
  {
    message: 'a limit in usd needs prices; add pricing, or limit tokens instead',
    cel: '(!(has(self.budget) && has(self.budget.usd)) && !(has(self.attemptLimits) && has(self.attemptLimits.usd))) || has(self.pricing)',
    field: ['pricing'],
    holds: ({ budget, attemptLimits, pricing }) =>
      (budget?.usd === undefined && attemptLimits?.usd === undefined) || pricing !== undefined,
  },
]);
export type ModelSpec = z.infer<typeof modelSpecSchema>;
