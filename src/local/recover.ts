import type { AttemptResult } from '../api/attempt.ts';
import type { RetrySpec } from '../api/benchmark-run.ts';
import type { TrialRecord } from '../api/trial.ts';
import { classifyAttempt } from '../attempt/failure-class.ts';
import { nextStep } from '../attempt/retry.ts';
import { readResult } from '../artifacts/attempt-dir.ts';
import { attemptEnded, attemptLost, trialExecuted, type CollectedArtifacts } from '../attempt/trial-state.ts';

/** What recovering looks at on the disk. */
export interface RecoveryWorld {
  readonly attemptDir: (attempt: number) => string;
  readonly artifactsOf: (attempt: number) => Promise<CollectedArtifacts | null>;
  readonly now: () => Date;
}

/**
 * Brings a stored trial up to what the disk shows after the program ended at any moment: an attempt whose result
 * is complete is taken over, one without is lost and not counted. Finished attempts are never run again.
 */
export async function recoverTrial(
  trial: TrialRecord,
  retry: RetrySpec,
  world: RecoveryWorld,
): Promise<TrialRecord> {
  if (trial.phase === 'Scored' || trial.phase === 'Executed') return trial;
  const open = trial.attempts.find((attempt) => attempt.endedAt === null);
  if (open === undefined) return { ...trial, phase: 'Pending' };
  const result = await completeResult(world.attemptDir(open.number), open.podUID);
  if (result === undefined) return attemptLost(trial, open.number, world.now().toISOString());
  const classification = classifyAttempt({ result });
  const after = attemptEnded(trial, result, classification, await world.artifactsOf(open.number));
  if (!classification.counted) return { ...after, phase: 'Pending' };
  // A delay that began before the program ended has passed by now: only the decision matters.
  const next = nextStep(after.attempts, retry, () => 0);
  return next.step === 'retry'
    ? { ...after, phase: 'Pending' }
    : trialExecuted(after, open.number, classification);
}

/** The result of exactly this execution, or undefined when it was cut off. */
async function completeResult(attemptDir: string, podUID: string): Promise<AttemptResult | undefined> {
  const result = await readResult(attemptDir);
  return result?.podUID === podUID ? result : undefined;
}
