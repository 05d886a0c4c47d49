import { z } from 'zod';
import { customGradeSchema } from '../custom-grade.ts';
import { REASON_OF_STATUS, type FailureStatus, type GradeOutcome, type ProcessAnswer } from './types.ts';

const answerSchema = z.union([
  z.object({ grade: z.unknown() }),
  z.object({
    failure: z.object({
      kind: z.enum(Object.keys(REASON_OF_STATUS) as [FailureStatus, ...FailureStatus[]]),
      message: z.string(),
    }),
  }),
]);

/** Turns what a checker's process left into a validated grade or the trial's scoring error. */
export function outcomeOf(answer: ProcessAnswer): GradeOutcome {
  const { output, outputBytes, leftovers } = answer;
  const record = { output, outputBytes, leftovers };
  const failed = (status: FailureStatus, message: string): GradeOutcome => ({
    ...record,
    ok: false,
    error: { reason: REASON_OF_STATUS[status], message },
  });
  if (answer.status !== 'answered') return failed(answer.status, answer.message);
  let value: unknown;
  try {
    value = JSON.parse(answer.answer);
  } catch {
    return failed('invalid', 'the checker answered something that is not JSON');
  }
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) return failed('invalid', 'the checker answered neither a grade nor a failure');
  if ('failure' in parsed.data) return failed(parsed.data.failure.kind, parsed.data.failure.message);
  const grade = customGradeSchema.safeParse(parsed.data.grade);
  if (grade.success) return { ...record, ok: true, grade: grade.data };
  const problems = grade.error.issues.map((issue) => `${issue.path.join('.') || 'grade'}: ${issue.message}`);
  return failed('invalid', `the grade is not valid: ${problems.slice(0, 5).join('; ')}`);
}
