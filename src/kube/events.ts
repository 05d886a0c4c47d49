import { type Clock, systemClock } from '../api/clock.ts';
import type { KubeClient } from './client.ts';
import { isNotFound } from './errors.ts';
import { microTime } from './micro-time.ts';
import type { Draft, Event, KubeObject } from './object.ts';
import { EVENTS } from './resource.ts';

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, one of a fixed set. */
  readonly reason: string;
  /** What was done, CamelCase, e.g. `CreatePod`. */
  readonly action: string;
  /** A sentence; cut at 1 kB. */
  readonly note: string;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** e.g. `clawbench.dev/controller`. */
  readonly reportingController: string;
  /** e.g. the pod's name. */
  readonly reportingInstance: string;
  readonly clock?: Clock;
  /** An event was not written: the rate was exceeded, or the server refused. */
  readonly onDropped?: (reason: 'rate' | 'failed', error?: unknown) => void;
}

/** New Events of one object: a burst, then one for each refill. Repetitions only count up. */
const BURST = 25;
const REFILL_MS = 30_000;
/** Different notes of one object and reason after which they are folded into one Event. */
const SIMILAR_NOTES = 10;
/** An Event that was not repeated for so long starts anew. */
const SERIES_MS = 10 * 60_000;
/** Writes of one series are at least so far apart. */
const SERIES_WRITE_MS = 30_000;
const QUEUE_LIMIT = 1000;
/** Most that the API takes. */
const NOTE_BYTES = 1024;

interface Series {
  readonly draft: Draft<Event>;
  count: number;
  lastMs: number;
  lastSeen: Date;
  /** Name of the Event once it is written. */
  name: string | null;
  writtenCount: number;
  writtenMs: number;
  queued: boolean;
}

interface Bucket {
  tokens: number;
  filledMs: number;
}

/**
 * Writes Events beside the work: `record` returns at once and never fails. The same text about the same object
 * counts up one Event; floods are folded and bounded.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #series = new Map<string, Series>();
  readonly #notes = new Map<string, Set<string>>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #queue: Series[] = [];
  #sending: Promise<void> | null = null;
  #counter = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Says something about an object. */
  record(regarding: KubeObject, text: EventText): void {
    const nowMs = this.#clock.monotonicMs();
    this.#forgetOld(nowMs);
    const group = `${regarding.metadata.uid}/${text.type}/${text.reason}`;
    const note = this.#fold(group, text.note);
    const key = `${group}/${note}`;
    const known = this.#series.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.lastMs = nowMs;
      known.lastSeen = this.#clock.date();
      // The second one is worth a write of its own, later ones are written together.
      if (known.writtenCount <= 1 || nowMs - known.writtenMs >= SERIES_WRITE_MS) this.#enqueue(known);
      return;
    }
    if (!this.#takeToken(regarding.metadata.uid, nowMs)) {
      this.#options.onDropped?.('rate');
      return;
    }
    const series: Series = {
      draft: this.#draft(regarding, { ...text, note }),
      count: 1,
      lastMs: nowMs,
      lastSeen: this.#clock.date(),
      name: null,
      writtenCount: 0,
      writtenMs: nowMs,
      queued: false,
    };
    this.#series.set(key, series);
    this.#enqueue(series);
  }

  /**
   * Writes what counted up since it was written last, and resolves when nothing is on its way. To be called now
   * and then, and at the end.
   */
  async flush(): Promise<void> {
    // What is being written now may count up meanwhile.
    await this.#sending;
    for (const series of this.#series.values()) if (series.count > series.writtenCount) this.#enqueue(series);
    await this.#sending;
  }

  #enqueue(series: Series): void {
    if (series.queued) return;
    if (this.#queue.length >= QUEUE_LIMIT) {
      this.#options.onDropped?.('rate');
      return;
    }
    series.queued = true;
    this.#queue.push(series);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  /** One at a time: Events must never crowd out the work. */
  async #send(): Promise<void> {
    for (let series = this.#queue.shift(); series !== undefined; series = this.#queue.shift()) {
      const count = series.count;
      try {
        await this.#write(series, count);
        series.writtenCount = count;
      } catch (thrown) {
        this.#options.onDropped?.('failed', thrown);
      }
      series.writtenMs = this.#clock.monotonicMs();
      series.queued = false;
    }
  }

  async #write(series: Series, count: number): Promise<void> {
    const { client } = this.#options;
    const { namespace } = series.draft.metadata;
    const inSeries = { series: { count, lastObservedTime: microTime(series.lastSeen) } };
    if (series.name !== null) {
      try {
        const ref = { ...(namespace === undefined ? {} : { namespace }), name: series.name };
        await client.patch(EVENTS, ref, { type: 'merge', body: inSeries });
        return;
      } catch (thrown) {
        // Events are kept for an hour; a long series outlives its first one.
        if (!isNotFound(thrown)) throw thrown;
      }
    }
    const created = await client.create(EVENTS, { ...series.draft, ...(count > 1 ? inSeries : {}) });
    series.name = created.metadata.name;
  }

  #draft(regarding: KubeObject, text: EventText): Draft<Event> {
    const { name, namespace, uid, resourceVersion } = regarding.metadata;
    this.#counter += 1;
    const suffix = `${this.#clock.date().getTime().toString(16)}${this.#counter.toString(16).padStart(4, '0')}`;
    return {
      metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, 230)}.${suffix}` },
      eventTime: microTime(this.#clock.date()),
      reportingController: this.#options.reportingController,
      reportingInstance: this.#options.reportingInstance,
      type: text.type,
      reason: text.reason,
      action: text.action,
      note: cutBytes(text.note, NOTE_BYTES),
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        uid,
        resourceVersion,
        ...(namespace === undefined ? {} : { namespace }),
      },
    };
  }

  /** The note, or one for all where an object says too many different things under one reason. */
  #fold(group: string, note: string): string {
    const notes = this.#notes.get(group) ?? new Set();
    this.#notes.set(group, notes);
    if (notes.has(note)) return note;
    if (notes.size >= SIMILAR_NOTES) return '(many similar events are combined in this one)';
    notes.add(note);
    return note;
  }

  #takeToken(uid: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(uid) ?? { tokens: BURST, filledMs: nowMs };
    this.#buckets.set(uid, bucket);
    const refilled = Math.floor((nowMs - bucket.filledMs) / REFILL_MS);
    if (refilled > 0) {
      bucket.tokens = Math.min(BURST, bucket.tokens + refilled);
      bucket.filledMs += refilled * REFILL_MS;
    }
    if (bucket.tokens === 0) return false;
    bucket.tokens -= 1;
    return true;
  }

  #forgetOld(nowMs: number): void {
    // In order of beginning, so that the look ends at the first that is still young.
    for (const [key, series] of this.#series) {
      if (nowMs - series.lastMs < SERIES_MS || series.queued) break;
      this.#series.delete(key);
      const group = key.split('/').slice(0, 3).join('/');
      this.#notes.delete(group);
    }
    for (const [uid, bucket] of this.#buckets) {
      if (nowMs - bucket.filledMs < BURST * REFILL_MS) break;
      this.#buckets.delete(uid);
    }
  }
}

/** At most so many bytes of UTF-8, without half a character at the end. */
function cutBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  return `${encoded
    .subarray(0, bytes - 6)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}...`;
}
