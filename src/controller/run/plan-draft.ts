import type { Round } from '../../api/container-requests.ts';
import type { RunCondition, RunConditionType, RunStatus } from '../../api/run-status.ts';
import type { TrialSpec, TrialStatus } from '../../api/trial-resource.ts';
import type { TrialView } from './observation.ts';
import type { RunView } from '../run-view.ts';

/** Something of the run's that should be there; whoever applies the plan builds and creates it. */
export type Child =
  | { readonly kind: 'claim' | 'worker' | 'gateway' | 'policies' | 'probe' | 'prepare' }
  | { readonly kind: 'round'; readonly number: number; readonly list: Round };

/** Something of the run's that has had its time. */
export interface Removal {
  readonly kind: 'pod' | 'job' | 'gateway';
  readonly name: string;
  readonly uid: string | null;
}

export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** What to write for a run; plain data. */
export interface RunPlan {
  readonly children: readonly Child[];
  readonly trials: readonly { readonly name: string; readonly spec: TrialSpec }[];
  readonly trialStatuses: readonly { readonly trial: TrialView; readonly status: TrialStatus }[];
  readonly removals: readonly Removal[];
  readonly finalizer: 'add' | 'remove' | null;
  /** The claim outlives the run from now on. */
  readonly releaseClaim: boolean;
  readonly deleteRun: boolean;
  readonly status: RunStatus;
  readonly events: readonly PlannedEvent[];
  /** Milliseconds since the epoch; null: only when something changes. */
  readonly requeueAt: number | null;
}

/** A plan in the making: the policies of a run write into it, one after the other. */
export class PlanDraft {
  readonly children: Child[] = [];
  readonly trials: { name: string; spec: TrialSpec }[] = [];
  readonly trialStatuses: { trial: TrialView; status: TrialStatus }[] = [];
  readonly removals: Removal[] = [];
  readonly events: PlannedEvent[] = [];
  finalizer: 'add' | 'remove' | null = null;
  releaseClaim = false;
  deleteRun = false;
  requeueAt: number | null = null;
  readonly #conditions: Map<RunConditionType, RunCondition>;
  readonly #run: RunView;
  readonly #now: string;
  #status: RunStatus;

  constructor(run: RunView, now: number) {
    this.#run = run;
    this.#now = new Date(now).toISOString();
    this.#status = run.status;
    this.#conditions = new Map(run.status.conditions.map((condition) => [condition.type, condition]));
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** Sets fields of the status. */
  say(fields: Partial<RunStatus>): void {
    this.#status = { ...this.#status, ...fields };
  }

  /** Sets a condition; the time of its transition changes only with its status. */
  set(type: RunConditionType, status: RunCondition['status'], reason: string, message: string): void {
    const before = this.#conditions.get(type);
    const kept = before?.status === status ? before.lastTransitionTime : this.#now;
    this.#conditions.set(type, {
      type,
      status,
      reason,
      message: message.slice(0, 4096),
      observedGeneration: this.#run.generation,
      lastTransitionTime: kept,
    });
  }

  condition(type: RunConditionType): RunCondition | undefined {
    return this.#conditions.get(type);
  }

  holds(type: RunConditionType): boolean {
    return this.#conditions.get(type)?.status === 'True';
  }

  /** Looks again at this time at the latest. */
  wakeAt(at: number): void {
    this.requeueAt = this.requeueAt === null ? at : Math.min(this.requeueAt, at);
  }

  /** The run cannot go on; it excludes Complete. */
  fail(reason: string, message: string): void {
    if (!this.holds('Failed')) this.events.push({ type: 'Warning', reason, note: message });
    this.set('Failed', 'True', reason, message);
    this.set('Complete', 'False', reason, message);
    this.say({ completionTime: this.#status.completionTime ?? this.#now });
  }

  complete(message: string): void {
    if (!this.holds('Complete')) this.events.push({ type: 'Normal', reason: 'Completed', note: message });
    this.set('Complete', 'True', 'Completed', message);
    this.set('Failed', 'False', 'Completed', message);
    this.say({ completionTime: this.#status.completionTime ?? this.#now });
  }

  done(): RunPlan {
    return {
      children: this.children,
      trials: this.trials,
      trialStatuses: this.trialStatuses,
      removals: this.removals,
      finalizer: this.finalizer,
      releaseClaim: this.releaseClaim,
      deleteRun: this.deleteRun,
      events: this.events,
      requeueAt: this.requeueAt,
      status: { ...this.#status, conditions: [...this.#conditions.values()] },
    };
  }
}
