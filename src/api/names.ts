import { createHash } from 'node:crypto';

/** Kubernetes label keys of the project. Pods of a trial carry RUN, TRIAL and ATTEMPT; the operator's own pods never TRIAL. */
export const LABELS = {
  RUN: 'clawbench.dev/run',
  TRIAL: 'clawbench.dev/trial',
  ATTEMPT: 'clawbench.dev/attempt',
  COMPONENT: 'app.kubernetes.io/component',
} as const;

/** Values of `app.kubernetes.io/component` on the operator's own pods. */
export const COMPONENTS = ['controller', 'gateway', 'prepare', 'score', 'probe', 'reader'] as const;
export type Component = (typeof COMPONENTS)[number];

/** Longest value of a label, and longest name of a Service, a container or a pod's host name. */
const LABEL_LENGTH = 63;

/**
 * Name of a Trial: deterministic, at most 51 characters, so that a pod's name of it stays within the 63 of a
 * label even with a six-digit attempt.
 *
 * @param runName metadata.name of the run; cut to 40 characters
 * @param runUid UID of the run, so that a run created anew never adopts an older one's trials
 * @param trialNumber 1-based
 */
export function trialName(runName: string, runUid: string, scenarioId: string, trialNumber: number): string {
  return `${cutName(runName, 40)}-${shortDigest(`${runUid}/${scenarioId}/${trialNumber}`)}`;
}

/** Name of the pod of one attempt of a trial. `attempt` is 1-based. */
export function podName(trial: string, attempt: number): string {
  return `${trial}-${attempt}`;
}

/** Value of the label RUN: the run's name, shortened with a digest of it where it is too long for a label. */
export function runLabel(runName: string): string {
  return runName.length <= LABEL_LENGTH ? runName : `${cutName(runName, 52)}-${shortDigest(runName)}`;
}

/**
 * Name of an object that belongs to a run: `<run>-<suffix>`, e.g. `-prepare`, `-gateway`, `-index-0`, `-round-2`.
 * Where that would be too long for a label, the run's name is cut and a digest of it inserted.
 *
 * @param suffix at most 20 characters
 */
export function runChildName(runName: string, suffix: string): string {
  const plain = `${runName}-${suffix}`;
  return plain.length <= LABEL_LENGTH ? plain : `${cutName(runName, 31)}-${shortDigest(runName)}-${suffix}`;
}

/**
 * Name of a run's gateway Service. Services allow less than other names (no dots, a letter first), so it is made
 * of the run's UID alone.
 */
export function gatewayServiceName(runUid: string): string {
  return `clawbench-gateway-${shortDigest(runUid)}`;
}

function cutName(name: string, length: number): string {
  return name.slice(0, length).replace(/[-.]+$/, '');
}

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
