import { z } from 'zod';
import { PROVIDER_ERROR_KINDS } from '../api/attempt.ts';
import { messageOf } from '../api/errors.ts';
import { PREFLIGHT_REASONS } from '../gateway/preflight-reason.ts';
import type { GatewayAccess } from './gateway-access.ts';
import type { ModelAnswer } from './run/observation.ts';
import type { RunView } from './run-view.ts';

/** A call of the gateway to its model may take 60 s; this is a little more. */
const PATIENCE_MS = 70_000;
/** Pause before a model or gateway that may come is asked again; it doubles with each question, up to a bound. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

const answerSchema = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      kind: z.enum(PROVIDER_ERROR_KINDS),
      status: z.int().nullable(),
      message: z.string(),
    }),
  }),
]);

interface Asked {
  answer: ModelAnswer;
  /** Milliseconds of the last answer; null while a call is under way. */
  at: number | null;
  /** How often it did not answer. */
  failures: number;
}

/**
 * Asks the model of each run one question through the run's gateway, before any trial has to find out that it does not
 * answer. It asks in the background: a reconcile never waits, it looks again.
 */
export class ModelPreflight {
  readonly #gateways: GatewayAccess;
  readonly #now: () => number;
  readonly #asked = new Map<string, Asked>();

  constructor(gateways: GatewayAccess, now: () => number) {
    this.#gateways = gateways;
    this.#now = now;
  }

  /** What the model said last; asks where nobody has, or where it may say something else by now. */
  answerOf(run: RunView): ModelAnswer {
    const known = this.#asked.get(run.uid);
    if (known !== undefined && !this.#isDue(known)) return known.answer;
    const asked: Asked = known ?? { answer: { state: 'asking' }, at: null, failures: 0 };
    asked.at = null;
    this.#asked.set(run.uid, asked);
    void this.#ask(run).then((answer) => {
      asked.answer = answer;
      asked.at = this.#now();
      if (answer.state === 'unavailable') asked.failures += 1;
    });
    return asked.answer;
  }

  /** What was said counts no more, e.g. because the run failed by it and may be run again with another key. */
  forget(runUid: string): void {
    this.#asked.delete(runUid);
  }

  #isDue({ answer, at, failures }: Asked): boolean {
    if (at === null || answer.state !== 'unavailable') return false;
    return this.#now() - at >= Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  }

  /** Never throws: that the gateway cannot be reached is an answer, too. */
  async #ask(run: RunView): Promise<ModelAnswer> {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const response = await this.#gateways.control(run, 'preflight', {}, signal);
      if (response === null) return { state: 'unavailable', message: 'the gateway is not made yet' };
      const text = await response.text();
      if (response.status !== 200) {
        return {
          state: 'unavailable',
          message: `the gateway answered ${response.status}: ${text.slice(0, 300)}`,
        };
      }
      const answer = answerSchema.parse(JSON.parse(text));
      if (answer.ok) return { state: 'answered' };
      const { kind, status, message } = answer.error;
      const reason = PREFLIGHT_REASONS[kind];
      const said = `the model answered one question with ${status === null ? kind : `status ${status}`} (${message})`;
      return reason === 'ModelUnavailable'
        ? { state: 'unavailable', message: said }
        : { state: 'refused', reason, message: said };
    } catch (error) {
      return { state: 'unavailable', message: `the gateway cannot be asked: ${messageOf(error)}` };
    }
  }
}
