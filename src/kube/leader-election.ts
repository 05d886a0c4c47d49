import { type Clock, systemClock } from '../api/clock.ts';
import type { KubeClient } from './client.ts';
import { isAlreadyExists, isConflict } from './errors.ts';
import { microTime } from './micro-time.ts';
import type { Lease, ObjectRef } from './object.ts';
import { LEASES } from './resource.ts';

export interface LeaderElectionTiming {
  /** Others may take the lease when they saw no renewal for so long. */
  readonly leaseSeconds: number;
  /** The leader stops when its last renewal was begun so long ago; well under `leaseSeconds`. */
  readonly renewDeadlineSeconds: number;
  readonly retrySeconds: number;
}

export interface LeaderElectionOptions {
  /** A client without a write guard of its own. */
  readonly client: KubeClient;
  readonly lease: Required<ObjectRef>;
  /** This process, unlike any other, e.g. `<pod name>_<random>`. */
  readonly identity: string;
  readonly timing?: LeaderElectionTiming;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The work of a leader: begins when this process leads, ends soon after `signal` aborts. */
  readonly onStartedLeading: (signal: AbortSignal) => Promise<void>;
  /** Leading is over, for whatever reason; the work has been told. */
  readonly onStoppedLeading?: () => void;
  readonly onNewLeader?: (identity: string) => void;
  /** A try failed; it is made again. */
  readonly onError?: (error: unknown) => void;
}

/** How `run` ended. After `lost` the process ends: its caches and queues belong to another life. */
export type LeaderElectionEnd = 'stopped' | 'lost';

/** This process does not hold the lease (any more), so it may not write. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError';
}

const DEFAULT_TIMING: LeaderElectionTiming = { leaseSeconds: 10, renewDeadlineSeconds: 7, retrySeconds: 2 };

interface Observed {
  readonly lease: Lease;
  /** When we saw this state first: clocks of others are not trusted. */
  readonly atMs: number;
}

/** Leader election over a Lease. */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #timing: LeaderElectionTiming;
  readonly #clock: Clock;
  readonly #random: () => number;
  #observed: Observed | null = null;
  #announced: string | null = null;
  /** Begin of the last renewal that went well, while leading. */
  #renewedAtMs: number | null = null;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timing = options.timing ?? DEFAULT_TIMING;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    const { leaseSeconds, renewDeadlineSeconds, retrySeconds } = this.#timing;
    if (!(leaseSeconds > renewDeadlineSeconds && renewDeadlineSeconds > retrySeconds && retrySeconds > 0)) {
      throw new RangeError('leader election needs lease > renew deadline > retry > 0');
    }
  }

  /** Whether this process leads now: arithmetic over the clock, true also after the process was frozen. */
  get isLeader(): boolean {
    const renewed = this.#renewedAtMs;
    return renewed !== null && this.#clock.monotonicMs() - renewed < this.#timing.renewDeadlineSeconds * 1000;
  }

  /** For `guardWrite` of the client that the work uses. @throws NotLeaderError */
  readonly fence = (): void => {
    if (!this.isLeader) throw new NotLeaderError(`${this.#options.identity} does not hold the lease`);
  };

  /** Waits for the lease, leads, and gives it back when `signal` aborts. Rejects with what the work rejects with. */
  async run(signal: AbortSignal): Promise<LeaderElectionEnd> {
    if (!(await this.#acquire(signal))) return 'stopped';
    const work = new AbortController();
    const state: { settled: boolean; failure: { readonly error: unknown } | null } = {
      settled: false,
      failure: null,
    };
    const wake = new AbortController();
    const stop = () => work.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const working = this.#options
      .onStartedLeading(work.signal)
      .catch((error: unknown) => {
        state.failure = { error };
      })
      .finally(() => {
        state.settled = true;
        wake.abort();
      });
    // While the work winds down after a stop it still writes: the lease is held until it has ended.
    const held = await this.#hold(() => state.settled, wake.signal);
    this.#renewedAtMs = held ? this.#renewedAtMs : null;
    work.abort(held ? signal.reason : new NotLeaderError('the lease was lost'));
    signal.removeEventListener('abort', stop);
    this.#options.onStoppedLeading?.();
    await working;
    this.#renewedAtMs = null;
    if (held) await this.#release();
    if (state.failure !== null && held && !signal.aborted) throw state.failure.error;
    return held ? 'stopped' : 'lost';
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const deadlineMs = this.#clock.monotonicMs() + this.#timing.renewDeadlineSeconds * 1000;
      if (await this.#tryOnce(deadlineMs, signal)) return true;
      // A little later each, so that candidates do not knock together.
      await this.#clock.sleep(this.#timing.retrySeconds * 1000 * (1 + this.#random() / 5), signal);
    }
    return false;
  }

  /** Renews until the work has ended (true) or the deadline passed without a renewal (false). */
  async #hold(ended: () => boolean, wake: AbortSignal): Promise<boolean> {
    while (!ended()) {
      const deadlineMs = (this.#renewedAtMs ?? 0) + this.#timing.renewDeadlineSeconds * 1000;
      const leftMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
      await this.#clock.sleep(Math.min(leftMs, this.#timing.retrySeconds * 1000), wake);
      if (ended()) break;
      if (!this.isLeader) return false;
      if (!(await this.#tryOnce(deadlineMs, wake)) && !ended() && !this.#mayStillRenew()) return false;
    }
    return this.isLeader;
  }

  #mayStillRenew(): boolean {
    const holder = this.#observed?.lease.spec?.holderIdentity;
    return this.isLeader && holder === this.#options.identity;
  }

  /** One try to take or renew, given up at `deadlineMs`. */
  async #tryOnce(deadlineMs: number, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const timer = new AbortController();
    const leftMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
    void this.#clock.sleep(leftMs, timer.signal).then(() => {
      over.abort(new NotLeaderError('no answer before the renew deadline'));
    });
    const startedMs = this.#clock.monotonicMs();
    try {
      if (!(await this.#takeOrRenew(AbortSignal.any([over.signal, signal])))) return false;
      // Counted from before the request, since others may count from the moment it arrived.
      this.#renewedAtMs = startedMs;
      return true;
    } catch (thrown) {
      if (!signal.aborted) this.#options.onError?.(thrown);
      return false;
    } finally {
      timer.abort();
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, lease: ref, identity } = this.#options;
    const current = await client.find(LEASES, ref, { signal });
    const now = microTime(this.#clock.date());
    const leaseDurationSeconds = Math.ceil(this.#timing.leaseSeconds);
    try {
      if (current === null) {
        const spec = {
          holderIdentity: identity,
          leaseDurationSeconds,
          acquireTime: now,
          renewTime: now,
          leaseTransitions: 0,
        };
        this.#observe(await client.create(LEASES, { metadata: ref, spec }, { signal }));
        return true;
      }
      this.#observe(current);
      const mine = current.spec?.holderIdentity === identity;
      // Whoever leads and finds another holder has lost, even if that one is gone again.
      if (!mine && (this.#renewedAtMs !== null || !this.#isFree())) return false;
      const spec = {
        ...current.spec,
        holderIdentity: identity,
        leaseDurationSeconds,
        renewTime: now,
        ...(mine ? {} : { acquireTime: now, leaseTransitions: (current.spec?.leaseTransitions ?? 0) + 1 }),
      };
      // The resourceVersion in it lets only one of two candidates win.
      this.#observe(await client.replace(LEASES, { ...current, spec }, { signal }));
      return true;
    } catch (thrown) {
      if (isConflict(thrown) || isAlreadyExists(thrown)) return false;
      throw thrown;
    }
  }

  #observe(lease: Lease): void {
    if (this.#observed?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) {
      this.#observed = { lease, atMs: this.#clock.monotonicMs() };
    }
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== this.#announced) {
      this.#announced = holder;
      this.#options.onNewLeader?.(holder);
    }
  }

  /** Given back, or not renewed for its duration since we saw it first. */
  #isFree(): boolean {
    const observed = this.#observed;
    if (observed === null) return false;
    const { holderIdentity, leaseDurationSeconds } = observed.lease.spec ?? {};
    if (holderIdentity === undefined || holderIdentity === '') return true;
    const seconds = leaseDurationSeconds ?? this.#timing.leaseSeconds;
    return this.#clock.monotonicMs() - observed.atMs >= seconds * 1000;
  }

  /** Gives the lease back, so that the next leader need not wait for its end. */
  async #release(): Promise<void> {
    const { client, lease: ref, identity } = this.#options;
    const timeoutMs = this.#timing.retrySeconds * 1000;
    try {
      const current = await client.find(LEASES, ref, { timeoutMs });
      if (current?.spec?.holderIdentity !== identity) return;
      const renewTime = microTime(this.#clock.date());
      const spec = { ...current.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
      await client.replace(LEASES, { ...current, spec }, { timeoutMs });
    } catch (thrown) {
      this.#options.onError?.(thrown);
    }
  }
}
