import type { ProviderErrorKind } from '../api/attempt.ts';
import type { ModelSpec } from '../api/benchmark-run.ts';
import { messageOf } from '../api/errors.ts';
import type { ModelCallRecord, TokenUsage } from '../api/model-calls.ts';
import { type Accounts, allTokens, attemptKey, costOf } from './accounts.ts';
import { ProviderBroken, type ModelBackend, type ProviderAnswer } from './backend.ts';
import { classifyProviderAnswer, errorWordsOf } from './classification.ts';
import type { GatewayClock } from './clock.ts';
import { FairQueue, QueueLeft, type Held } from './fair-queue.ts';
import type { GatewayJournal } from './journal.ts';
import type { GatewayMetrics } from './metrics.ts';
import { RateLimits } from './rate-limits.ts';
import type { CallerClaims } from './token.ts';
import type { ModelRequest, WireFormat } from './wire/wire-format.ts';

/** Calls of one attempt that may be open at once: no agent needs more, and none may use up the gateway. */
const OPEN_CALLS = 64;
/** Errors of providers are short; a longer one is passed on unread. */
const ERROR_BYTES = 64 * 1024;
/** What our own model costs. */
const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

/** Where an answer goes, piece by piece. */
export interface AnswerSink {
  /** Comes first, once. */
  readonly head: (answer: {
    readonly status: number;
    readonly contentType: string;
    readonly retryAfter: string | null;
    readonly error: ProviderErrorKind | null;
  }) => void;
  /** Resolves when more can be taken. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Comes last. `broken`: the provider broke off; what was written is not whole. */
  readonly end: (broken: boolean) => void;
}

/** The gateway itself takes no call: who asks sees status and code. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface CallServiceOptions {
  readonly model: ModelSpec;
  readonly backend: ModelBackend;
  readonly accounts: Accounts;
  readonly journal: GatewayJournal;
  readonly metrics: GatewayMetrics;
  readonly clock: GatewayClock;
  /** Takes the provider's key out of a text of the provider. */
  readonly redact: (text: string) => string;
}

interface Call {
  readonly claims: CallerClaims;
  readonly wire: WireFormat;
  readonly request: ModelRequest;
}

/** How a call's answer came through. */
interface Passed {
  readonly end: ModelCallRecord['end'];
  readonly status: number | null;
  readonly error: ProviderErrorKind | null;
  readonly usage: TokenUsage | null;
}

/** Result of a preflight: whether the model answers. */
export type Preflight =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly error: {
        readonly class: 'provider';
        readonly kind: ProviderErrorKind;
        readonly status: number | null;
        readonly message: string;
      };
    };

/** Takes model calls, lets them wait their turn, passes them to the model, and accounts for each one. */
export class CallService {
  readonly queue: FairQueue;
  private readonly options: CallServiceOptions;
  private readonly rates: RateLimits;
  /** Open calls by attempt; aborting one gives it up. */
  private readonly open = new Map<string, Set<AbortController>>();
  private draining = false;
  private whenIdle: () => void = () => undefined;

  constructor(options: CallServiceOptions) {
    const { limits } = options.model;
    this.options = options;
    this.rates = new RateLimits(limits);
    this.queue = new FairQueue(limits.concurrency ?? null, this.rates, options.clock);
  }

  /** Why no call is taken now; null while calls are. */
  get unready(): string | null {
    if (this.draining) return 'the gateway is ending';
    return this.options.journal.failure?.message ?? null;
  }

  /** @throws CallRefused when the attempt may make no call now */
  assertTaken({ trial, attempt }: CallerClaims): void {
    const { unready } = this;
    if (unready !== null) throw new CallRefused(503, 'gateway_unavailable', unready);
    if (this.options.accounts.hasEnded(trial, attempt)) {
      throw new CallRefused(403, 'attempt_ended', 'the attempt has ended; no call of it is taken any more');
    }
    if ((this.open.get(attemptKey(trial, attempt))?.size ?? 0) >= OPEN_CALLS) {
      throw new CallRefused(429, 'too_many_open_calls', `the attempt has ${OPEN_CALLS} calls open already`);
    }
  }

  /**
   * Makes one call. The answer is ended only when the call's record is on the disk.
   *
   * @param gone the caller is gone
   * @throws CallRefused before the answer's head; InfrastructureError when the call cannot be accounted for: the
   * answer must then not be taken for whole
   */
  async call(call: Call, gone: AbortSignal, sink: AnswerSink): Promise<void> {
    const { claims } = call;
    this.assertTaken(claims);
    const { accounts, clock, journal, metrics, model } = this.options;
    const key = attemptKey(claims.trial, claims.attempt);
    const startedAt = clock.date().toISOString();
    const started = clock.monotonicMs();
    const places = accounts.begin(claims.trial, claims.attempt);
    const release = this.track(key);
    const signal = AbortSignal.any([gone, release.signal]);
    metrics.opened();
    let heldMs = 0;
    try {
      const ticket = await this.queue.enter(key, signal).catch((error: unknown) => {
        if (error instanceof QueueLeft) return null;
        throw error;
      });
      heldMs = ticket?.heldMs ?? clock.monotonicMs() - started;
      let passed: Passed = { end: 'abandoned', status: null, error: null, usage: null };
      if (ticket !== null) {
        passed = await this.pass(call, places, signal, sink).finally(() => {
          ticket.leave();
        });
      }
      if (passed.usage !== null) this.rates.usedTokens(clock.monotonicMs(), allTokens(passed.usage));
      const record: ModelCallRecord = {
        trial: claims.trial,
        attempt: claims.attempt,
        role: claims.role,
        ordinal: places.ordinal,
        startedAt,
        heldMs: Math.round(heldMs),
        durationMs: Math.round(clock.monotonicMs() - started),
        api: call.wire.api,
        stream: call.request.stream,
        ...passed,
        costUsd: costOf(passed.usage, model.pricing ?? (model.api === 'scripted' ? FREE : undefined)),
      };
      accounts.add(record);
      metrics.ended(record);
      await journal.append({ type: 'call', call: record });
      if (passed.end === 'abandoned' && !gone.aborted) {
        throw new CallRefused(
          503,
          'gateway_unavailable',
          'the call was given up, because the gateway or the attempt ends',
        );
      }
      sink.end(passed.end === 'broken');
    } finally {
      metrics.closed();
      release.done();
    }
  }

  /** Asks the model one short question, past the queue: nothing else runs yet. */
  async preflight(wire: WireFormat, signal: AbortSignal): Promise<Preflight> {
    const { accounts, backend, clock, journal, model, redact } = this.options;
    const parsed = wire.parse(wire.probe(model.id));
    if (!parsed.ok) throw new Error(`the probe of ${wire.api} is no request: ${parsed.problem}`);
    const runOrdinal = accounts.beginInRun();
    let status: number | null = null;
    let result: Preflight = { ok: true };
    try {
      const answer = await backend.send(
        { wire, request: parsed.request, origin: { kind: 'preflight' }, runOrdinal },
        signal,
      );
      ({ status } = answer);
      const body = await readBounded(answer.body, ERROR_BYTES);
      const words = errorWordsOf(parseJson(body.bytes));
      if (status >= 400) {
        // A probe that the provider finds malformed is as much a refusal as any other.
        const kind = classifyProviderAnswer(status, words) ?? 'server_error';
        const message =
          words.message === '' ? `the provider answered with status ${status}` : redact(words.message);
        result = { ok: false, error: { class: 'provider', kind, status, message } };
      }
    } catch (error) {
      if (!(error instanceof ProviderBroken)) throw error;
      const message = redact(messageOf(error));
      result = { ok: false, error: { class: 'provider', kind: 'connection', status: null, message } };
    }
    await journal.append({ type: 'preflight', at: clock.date().toISOString(), status, ok: result.ok });
    return result;
  }

  /** No call of the attempt is taken any more, also after a restart; those that are open are given up. */
  async endAttempt(trial: string, attempt: number): Promise<void> {
    const { accounts, clock, journal } = this.options;
    const key = attemptKey(trial, attempt);
    if (accounts.hasEnded(trial, attempt)) return;
    accounts.end(trial, attempt);
    for (const controller of this.open.get(key) ?? []) controller.abort();
    this.queue.forget(key);
    await journal.append({ type: 'ended', trial, attempt, at: clock.date().toISOString() });
  }

  held({ trial, attempt }: CallerClaims): Held {
    return this.queue.held(attemptKey(trial, attempt));
  }

  callsOf({ trial, attempt }: CallerClaims): readonly ModelCallRecord[] {
    return this.options.accounts.callsOf(trial, attempt);
  }

  /** Takes no further calls, waits for the open ones, and gives up those that take longer. */
  async drain(ms: number): Promise<void> {
    this.draining = true;
    if (this.open.size === 0) return;
    const idle = new Promise<void>((resolve) => (this.whenIdle = resolve));
    const cancel = this.options.clock.after(ms, () => {
      for (const controllers of this.open.values()) for (const controller of controllers) controller.abort();
    });
    await idle;
    cancel();
  }

  private async pass(
    { claims, wire, request }: Call,
    places: { readonly ordinal: number; readonly runOrdinal: number },
    signal: AbortSignal,
    sink: AnswerSink,
  ): Promise<Passed> {
    const { trial, attempt, role } = claims;
    const origin = { kind: 'attempt', trial, attempt, role, ordinal: places.ordinal } as const;
    let status: number | null = null;
    let usage: TokenUsage | null = null;
    try {
      const answer = await this.options.backend.send(
        { wire, request, origin, runOrdinal: places.runOrdinal },
        signal,
      );
      ({ status } = answer);
      if (status >= 400) return await passError(answer, sink);
      sink.head({ ...answer, error: null });
      const meter = wire.meter(answer.contentType.startsWith('text/event-stream'));
      try {
        for await (const bytes of answer.body) {
          if (signal.aborted) break;
          meter.push(bytes);
          await sink.write(bytes);
        }
      } finally {
        ({ usage } = meter.end());
      }
      return { end: signal.aborted ? 'abandoned' : 'answered', status, error: null, usage };
    } catch (error) {
      if (signal.aborted) return { end: 'abandoned', status, error: null, usage };
      if (!(error instanceof ProviderBroken)) throw error;
      if (status === null) {
        const message = `the model's provider gave no answer`;
        sink.head({ status: 502, contentType: 'application/json', retryAfter: null, error: 'connection' });
        await sink.write(
          Buffer.from(wire.renderError({ status: 502, code: 'provider_unreachable', message })),
        );
      }
      return { end: 'broken', status, error: 'connection', usage };
    }
  }

  private track(key: string): { readonly signal: AbortSignal; readonly done: () => void } {
    const controller = new AbortController();
    const controllers = this.open.get(key) ?? new Set();
    controllers.add(controller);
    this.open.set(key, controllers);
    return {
      signal: controller.signal,
      done: () => {
        controllers.delete(controller);
        if (controllers.size === 0) this.open.delete(key);
        if (this.open.size === 0) this.whenIdle();
      },
    };
  }
}

/** Passes an error on, once it was read so far that its kind can be told. */
async function passError(answer: ProviderAnswer, sink: AnswerSink): Promise<Passed> {
  const { status } = answer;
  const { bytes, rest } = await readBounded(answer.body, ERROR_BYTES);
  const error = classifyProviderAnswer(status, errorWordsOf(parseJson(bytes)));
  sink.head({ ...answer, error });
  await sink.write(bytes);
  for await (const more of rest) await sink.write(more);
  return { end: 'answered', status, error, usage: null };
}

/** Reads a body up to about `limit` bytes; `rest` is what comes behind. */
async function readBounded(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<{ readonly bytes: Buffer; readonly rest: AsyncIterable<Uint8Array> }> {
  const iterator = body[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size <= limit) {
    const next = await iterator.next();
    if (next.done === true) break;
    pieces.push(next.value);
    size += next.value.byteLength;
  }
  return { bytes: Buffer.concat(pieces), rest: { [Symbol.asyncIterator]: () => iterator } };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
