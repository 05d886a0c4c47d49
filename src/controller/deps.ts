import type { Clock } from '../api/clock.ts';
import type { ControllerConfig } from '../api/controller-config.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventText } from '../kube/events.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Builders } from './builders.ts';
import type { Cache } from './cache.ts';
import type { RunResource } from './run-view.ts';
import type { TrialMemory } from './trial/memory.ts';

/** Where things are said to those who watch the operator itself; fields are JSON values. */
export interface Log {
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly debug: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** What every reconciler is given. Nothing else of the world is touched. */
export interface Deps {
  readonly client: KubeClient;
  readonly cache: Cache;
  readonly builders: Builders;
  readonly config: ControllerConfig;
  readonly memory: TrialMemory;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly record: (regarding: KubeObject, text: EventText) => void;
  readonly log: Log;
  /** Tells a run's gateway that an attempt is over; best effort. */
  readonly attemptEnded: (run: RunResource, trial: string, attempt: number) => void;
  /** Asks for a pass of the scheduler: something may start now. */
  readonly wakeScheduler: () => void;
  /** Asks for passes over Trials (`namespace/name`), because their run has changed its mind. */
  readonly wakeTrials: (keys: readonly string[]) => void;
}
