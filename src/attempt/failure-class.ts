import type { AttemptResult } from '../api/attempt.ts';
import type { ExecutionStatus, FailureClass } from '../api/vocabulary.ts';
import { FAILURE_RULES } from './failure-rules.ts';

/** Which bound of `spec.retry` another attempt is charged to; null: there is no other attempt. */
export type RetryGroup = 'infrastructure' | 'provider' | 'disruption';

/**
 * What a cluster shows of an attempt's pod beside the harness's own result. Every field may be left out: it
 * then says nothing. On one machine there is none of it.
 */
export interface PodSignals {
  /** Last terminated state of the container `harness`: the kubelet's word, e.g. `OOMKilled`. */
  readonly harnessTerminated?: { readonly reason: string; readonly exitCode: number };
  /** The same of the container `executor`. A shim that lives on after its child's OOM ends with exit code 0. */
  readonly executorTerminated?: { readonly reason: string; readonly exitCode: number };
  /** The pod was seen, and a live read of pod and Trial says that it is gone; or its node is. */
  readonly lost?: boolean;
  /** The run was cancelled, or deleted, before the attempt had ended. */
  readonly cancelled?: boolean;
  /** Condition DisruptionTarget, or an eviction by the queue: preemption, drain, taint. */
  readonly disrupted?: boolean;
  /** Phase Failed with reason Evicted. `ownLimit`: the executor passed its own disk limit, by the kubelet's word
   * or because there is no DisruptionTarget (node pressure always sets it). */
  readonly evicted?: { readonly ownLimit: boolean };
  /** A container waits for an image that will not come: ErrImagePull, ImagePullBackOff, InvalidImageName, ... */
  readonly imageFailed?: boolean;
  /** A volume, Secret or ConfigMap cannot be mounted, or a container cannot be created from its configuration. */
  readonly mountFailed?: boolean;
  /** The `queued` bound passed before the pod was scheduled. */
  readonly queuedDeadline?: boolean;
  /** The `start` bound passed before the shim connected. */
  readonly startDeadline?: boolean;
  /** activeDeadlineSeconds ended the pod: the harness did not keep its own bounds. */
  readonly activeDeadline?: boolean;
  /** The run's gateway was not ready while the attempt ran. */
  readonly gatewayDown?: boolean;
}

/** Everything an attempt's class is decided from. */
export interface AttemptSignals {
  /** result.json, or null when the harness did not come to write it. */
  readonly result: Pick<
    AttemptResult,
    'observations' | 'killReason' | 'exitCode' | 'signal' | 'oomKills' | 'turns' | 'completion' | 'collected'
  > | null;
  readonly pod?: PodSignals;
}

/** How an attempt ended, as Trial status and reports say it. */
export interface Classification {
  /** null: the agent ended in order. */
  readonly class: FailureClass | null;
  /** CamelCase; the name of the rule that decided. */
  readonly reason: string | null;
  readonly retry: RetryGroup | null;
  /** Whether the attempt is charged against `spec.retry`. */
  readonly counted: boolean;
  readonly execution: ExecutionStatus;
}

/**
 * Turns what was observed into a failure class: the first rule of the table that matches decides. Nothing else
 * in the project classifies.
 */
export function classifyAttempt(signals: AttemptSignals): Classification {
  const rule = FAILURE_RULES.find(({ matches }) => matches(signals));
  if (rule === undefined) {
    return { class: null, reason: null, retry: null, counted: true, execution: 'success' };
  }
  return {
    class: rule.class,
    reason: rule.reason,
    retry: rule.retry,
    counted: rule.counted ?? true,
    execution: rule.execution ?? 'error',
  };
}

/** The bound that another attempt after this reason is charged to; null for a reason that allows none. */
export function retryGroupOf(reason: string): RetryGroup | null {
  return FAILURE_RULES.find((rule) => rule.reason === reason)?.retry ?? null;
}
