import { z } from 'zod';
import { CHECK_CATEGORIES } from '../api/vocabulary.ts';

const finite = z.number();

/** One checkpoint as a checker returns it: `score` of `max`, or `earned` of `points`. */
export const checkpointSchema = z.looseObject({
  score: finite.optional(),
  earned: finite.optional(),
  max: finite.optional(),
  points: finite.optional(),
  detail: z.unknown().optional(),
  category: z.enum(CHECK_CATEGORIES).optional(),
});

/** What a custom checker returned, before it was turned into checks. */
export const customGradeSchema = z.looseObject({
  checkpoints: z.record(z.string(), checkpointSchema).default({}),
  safety_violations: z.array(z.string()).default([]),
  process_score: finite.nullish(),
  efficiency_penalty: finite.nullish(),
});
export type CustomGrade = z.infer<typeof customGradeSchema>;
