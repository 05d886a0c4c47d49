import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelSpec } from '../api/benchmark-run.ts';
import { InfrastructureError, messageOf } from '../api/errors.ts';
import type { ResolvedTimeouts } from '../api/timeouts.ts';
import { startAttemptEndpoint, type AttemptEndpoint } from '../gateway/attempt-endpoint.ts';
import { PREFLIGHT_REASONS } from '../gateway/preflight-reason.ts';
import { startGateway, type Gateway } from '../gateway/server.ts';
import { mintToken } from '../gateway/token.ts';

/** Pauses before the model is asked again whether it answers; milliseconds. */
const PREFLIGHT_PAUSES = [1000, 2000, 4000];
/** A token outlives every bound of its attempt by so much. */
const TOKEN_MARGIN_SECONDS = 3600;

export interface LocalModelOptions {
  readonly model: ModelSpec;
  readonly apiKey: string | null;
  /** The run's gateway folder. */
  readonly journalDir: string;
  readonly onNote: (text: string) => void;
  readonly now: () => Date;
}

/** An attempt of a run on this machine, as the gateway knows it. */
export interface LocalCaller {
  readonly trial: string;
  readonly attempt: number;
  readonly podUID: string;
  readonly timeouts: ResolvedTimeouts;
}

/** The gateway of a run on this machine: in this process, on the loopback device. */
export class LocalModel {
  private readonly gateway: Gateway;
  private readonly secret: string;
  private readonly now: () => Date;

  private constructor(gateway: Gateway, secret: string, now: () => Date) {
    this.gateway = gateway;
    this.secret = secret;
    this.now = now;
  }

  /** @throws InfrastructureError `JournalUnavailable` */
  static async open({ model, apiKey, journalDir, onNote, now }: LocalModelOptions): Promise<LocalModel> {
    const secret = randomBytes(32).toString('base64url');
    const gateway = await startGateway({
      model,
      secret,
      apiKey,
      journalDir,
      host: '127.0.0.1',
      ports: { model: 0, control: null, metrics: null, health: null },
      onNote: (note) => onNote(`gateway: ${note}`),
      onFault: (error) => onNote(`gateway: ${messageOf(error)}`),
    });
    return new LocalModel(gateway, secret, now);
  }

  /**
   * Asks the model whether it answers, before any attempt has to find out. What may pass is asked again a few times.
   *
   * @throws InfrastructureError `ModelAuthentication`, `ModelNotFound`, `ModelQuota` or `ModelUnavailable`
   */
  async preflight(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const result = await this.gateway.preflight();
      if (result.ok) return;
      const { kind, status, message } = result.error;
      const reason = PREFLIGHT_REASONS[kind];
      const pause = PREFLIGHT_PAUSES[attempt];
      if (reason !== 'ModelUnavailable' || pause === undefined) {
        const said =
          status === null ? 'the model was asked one question' : `the model answered with status ${status}`;
        throw new InfrastructureError(
          reason,
          `${said} (${message}); no trial was started. Mend spec.model or its key, and run the same command again.`,
        );
      }
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The model endpoint of one attempt. Its address holds a word that no other attempt knows. */
  async endpointFor({ trial, attempt, podUID, timeouts }: LocalCaller): Promise<AttemptEndpoint> {
    const { start, wall, collect } = timeouts;
    const seconds = start + wall + collect + TOKEN_MARGIN_SECONDS;
    const exp = Math.ceil(this.now().getTime() / 1000 + seconds);
    return await startAttemptEndpoint({
      port: 0,
      gatewayUrl: `http://127.0.0.1:${this.gateway.ports.model}`,
      token: mintToken(this.secret, { trial, attempt, podName: podUID, role: 'agent', exp }),
      path: randomBytes(18).toString('base64url'),
    });
  }

  /** The attempt is over: none of its calls is taken any more. */
  async ended(trial: string, attempt: number): Promise<void> {
    await this.gateway.endAttempt(trial, attempt);
  }

  async close(): Promise<void> {
    await this.gateway.drain(0);
  }
}
