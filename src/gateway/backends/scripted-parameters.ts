import { z } from 'zod';
import type { ModelSpec } from '../../api/benchmark-run.ts';
import type { InputProblem } from '../../api/errors.ts';

const respondSchema = z
  .strictObject({
    /** Answered instead of a text. */
    status: z.literal([401, 403, 404, 429, 500, 503]),
    /** Header Retry-After of the answer. */
    retryAfterSeconds: z.int().min(0).max(3600).optional(),
    /** Only the first so many calls are answered so; all where nothing is said. */
    times: z.int().min(1).max(1_000_000).optional(),
    /** What `times` counts the calls of. */
    per: z.enum(['attempt', 'run']).default('attempt'),
    /** Only calls of a trial's first so many attempts are answered so; those of all where nothing is said. */
    attempts: z.int().min(1).max(1000).optional(),
  })
  .refine(({ times, per }) => per === 'attempt' || times !== undefined, {
    path: ['per'],
    error: 'says what times counts; give times as well',
  });

/** `spec.model.parameters.scripted` of the scripted model (docs/reference/scripted.md). */
export const scriptedModelSchema = z.strictObject({
  respond: respondSchema.optional(),
  /** Before each answer. */
  latencyMs: z.int().min(0).max(600_000).default(0),
  text: z.string().min(1).max(65_536).default('This is the answer of the scripted model.'),
});
export type ScriptedModel = z.infer<typeof scriptedModelSchema>;

/** What is wrong with the parameters of a scripted model; fields begin with `spec.model`. */
export function scriptedModelProblems(model: ModelSpec): readonly InputProblem[] {
  const remedy = 'The fields are listed in docs/reference/scripted.md.';
  const foreign = Object.keys(model.parameters)
    .filter((name) => name !== 'scripted')
    .map((name) => ({
      field: `spec.model.parameters.${name}`,
      message: 'the scripted model knows no such parameter',
      remedy,
    }));
  const parsed = scriptedModelSchema.safeParse(model.parameters['scripted'] ?? {});
  const wrong = (parsed.error?.issues ?? []).map((issue) => ({
    field: ['spec.model.parameters.scripted', ...issue.path].join('.'),
    message: issue.message,
    remedy,
  }));
  return [...foreign, ...wrong];
}
