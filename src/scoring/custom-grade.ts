import { z } from 'zod';
import { CHECK_CATEGORIES } from '../api/vocabulary.ts';
import { pythonStr } from './python-values.ts';

/** A number as checkers write it: Python's `float()` also takes booleans and numerals. */
const numeric = z.union([z.number(), z.boolean(), z.string().trim().min(1)]).transform((value, context) => {
  const number = Number(value);
  if (Number.isFinite(number)) return number;
  context.addIssue({ code: 'custom', message: `is not a finite number: ${JSON.stringify(value)}` });
  return z.NEVER;
});

/** Anything that a checker puts where text is read, as Python prints it. */
const text = z.unknown().transform(pythonStr);

const checkpointSchema = z
  .object({
    score: numeric.optional(),
    earned: numeric.optional(),
    max: numeric.optional(),
    points: numeric.optional(),
    detail: text.optional(),
    category: z.enum(CHECK_CATEGORIES).default('correctness'),
  })
  .transform(({ score, earned, max, points, detail, category }) => ({
    earned: score ?? earned ?? 0,
    points: max ?? points ?? 1,
    detail: detail ?? '',
    category,
  }));

/**
 * What a custom checker returns, whatever its language: `{checkpoints: {id: {score | earned, max | points, detail,
 * category}}, safety_violations: [text], process_score?, efficiency_penalty?}`. Everything may be left out;
 * what else it holds is ignored. The parsed value has one name for each thing and all defaults filled in.
 */
export const customGradeSchema = z.object({
  checkpoints: z
    .record(z.string(), checkpointSchema)
    .nullish()
    .transform((value) => value ?? {}),
  safety_violations: z
    .array(text)
    .nullish()
    .transform((value) => value ?? []),
  process_score: numeric.nullish().transform((value) => value ?? null),
  efficiency_penalty: numeric.nullish().transform((value) => value ?? null),
});
export type CustomGrade = z.output<typeof customGradeSchema>;
/** What a checker may return, for checkers written in TypeScript. */
export type CustomGradeInput = z.input<typeof customGradeSchema>;
