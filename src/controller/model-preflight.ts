import { z } from 'zod';
import { PROVIDER_ERROR_KINDS } from '../api/attempt.ts';
import { messageOf } from '../api/errors.ts';
import { PREFLIGHT_REASONS } from '../gateway/preflight-reason.ts';
import type { GatewayAccess } from './gateway-access.ts';
import type { ModelAnswer } from './run/observation.ts';
import type { RunView } from './run-view.ts';

/** A call of the gateway to its model may take 60 s; this is a little more. */
const PATIENCE_MS = 70_000;
/** Between two questions to a model or gateway that may come. */
const AGAIN_MS = 5_000;

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
    const asked: Asked = known ?? { answer: { state: 'asking' }, at: null };
    asked.at = null;
    this.#asked.set(run.uid, asked);
    void this.#ask(run).then((answer) => {
      asked.answer = answer;
      asked.at = this.#now();
    });
    return asked.answer;
  }

  forget(runUid: string): void {
    this.#asked.delete(runUid);
  }

  #isDue({ answer, at }: Asked): boolean {
    return at === null || answer.state !== 'unavailable' ? false : this.#now() - at >= AGAIN_MS;
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
