import type { Observation } from '../api/attempt.ts';
import type { DispatchEvent } from '../api/attempt-meta.ts';
import type { TimelinePhase } from '../api/attempt-records.ts';
import { InfrastructureError, messageOf } from '../api/errors.ts';
import type { Clock } from '../api/clock.ts';
import type { TimedStep } from './records/timeline.ts';

type WithoutTime<T> = T extends unknown ? Omit<T, 'at' | 'runtimeMs'> : never;

/** What the harness saw and did in one attempt, in order. It never judges. */
export class Journal {
  readonly observations: Observation[] = [];
  readonly dispatched: DispatchEvent[] = [];
  readonly steps: TimedStep[] = [];
  /** Executor time that was used up so far; kept by whoever runs the turns. */
  runtimeMs = 0;
  private readonly clock: Clock;
  private readonly onDispatch: (event: DispatchEvent) => void;

  constructor(clock: Clock, onDispatch: (event: DispatchEvent) => void = () => undefined) {
    this.clock = clock;
    this.onDispatch = onDispatch;
  }

  observe(observation: Observation): void {
    this.observations.push(observation);
  }

  dispatch(event: WithoutTime<DispatchEvent>, runtimeMs = this.runtimeMs): void {
    const time = { at: this.clock.date().toISOString(), runtimeMs: Math.round(runtimeMs) };
    const dispatched: DispatchEvent = { ...event, ...time };
    this.dispatched.push(dispatched);
    this.onDispatch(dispatched);
  }

  /** Records how long something takes, also when it fails. */
  async step<T>(phase: TimelinePhase, name: string, action: () => Promise<T>, turn?: number): Promise<T> {
    const start = this.clock.date().getTime();
    const at = this.steps.length;
    const step = { phase, name, start, end: null, ...(turn === undefined ? {} : { turn }) };
    this.steps.push(step);
    try {
      return await action();
    } finally {
      this.steps[at] = { ...step, end: this.clock.date().getTime() };
    }
  }
}

/** What an observation says of something that was thrown. */
export function faultOf(error: unknown): { message: string; reason?: string } {
  const message = messageOf(error);
  return error instanceof InfrastructureError ? { message, reason: error.reason } : { message };
}
