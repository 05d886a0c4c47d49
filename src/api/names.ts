import { createHash } from 'node:crypto';

/** Kubernetes label keys of the project. Pods of a trial carry RUN, TRIAL and ATTEMPT; the operator's own pods never TRIAL. */
export const LABELS = {
  RUN: 'clawbench.dev/run',
  TRIAL: 'clawbench.dev/trial',
  ATTEMPT: 'clawbench.dev/attempt',
} as const;

/**
 * Name of a Trial: deterministic, at most 51 characters, so that a pod's name of it stays within the 63 of a
 * label even with a six-digit attempt.
 *
 * @param runName metadata.name of the run; cut to 40 characters
 * @param runUid UID of the run, so that a run created anew never adopts an older one's trials
 * @param trialNumber 1-based
 */
export function trialName(runName: string, runUid: string, scenarioId: string, trialNumber: number): string {
  const digest = createHash('sha256').update(`${runUid}/${scenarioId}/${trialNumber}`).digest('hex');
  const prefix = runName.slice(0, 40).replace(/[-.]+$/, '');
  return `${prefix}-${digest.slice(0, 10)}`;
}

/** Name of the pod of one attempt of a trial. `attempt` is 1-based. */
export function podName(trial: string, attempt: number): string {
  return `${trial}-${attempt}`;
}
