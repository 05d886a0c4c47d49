import { readRun } from './cache.ts';
import type { Log } from './deps.ts';
import type { GatewayAccess } from './gateway-access.ts';
import { needsGateway } from './objects/context.ts';
import { isReadable, type RunResource, type RunView } from './run-view.ts';

const PATIENCE_MS = 5_000;

interface EndedAttempt {
  readonly trial: string;
  readonly attempt: number;
}

/**
 * Tells runs' gateways which attempts are over, so that their tokens are worth nothing any more. Best effort: tokens
 * end by themselves, so nothing waits for it, and what a controller had not told when it ended is not told any more.
 * The gateway takes the same word twice.
 */
export class EndedAttempts {
  readonly #gateways: GatewayAccess;
  readonly #log: Log;
  /** By the run's UID, then by trial and attempt: what a gateway does not know yet. */
  readonly #untold = new Map<string, Map<string, EndedAttempt>>();
  readonly #telling = new Set<string>();

  constructor({ gateways, log }: { readonly gateways: GatewayAccess; readonly log: Log }) {
    this.#gateways = gateways;
    this.#log = log;
  }

  /** Returns at once. */
  tell(object: RunResource, trial: string, attempt: number): void {
    const run = readRun(object);
    if (!isReadable(run) || !needsGateway(run)) return;
    const untold = this.#untold.get(run.uid) ?? new Map<string, EndedAttempt>();
    this.#untold.set(run.uid, untold);
    untold.set(`${trial}/${attempt}`, { trial, attempt });
    this.retry(run);
  }

  /** Tells what could not be told before. Returns at once. */
  retry(run: RunView): void {
    if (!this.#untold.has(run.uid) || this.#telling.has(run.uid)) return;
    this.#telling.add(run.uid);
    void this.#tellAll(run)
      .catch((error: unknown) =>
        this.#log.debug({ run: run.name, error }, 'the gateway could not be told that attempts ended'),
      )
      .finally(() => this.#telling.delete(run.uid));
  }

  /** The run is over, and its gateway with it. */
  forget(runUid: string): void {
    this.#untold.delete(runUid);
  }

  async #tellAll(run: RunView): Promise<void> {
    for (;;) {
      const untold = this.#untold.get(run.uid);
      const [next] = untold ?? [];
      if (untold === undefined || next === undefined) {
        this.#untold.delete(run.uid);
        return;
      }
      const [key, ended] = next;
      await this.#send(run, ended);
      untold.delete(key);
    }
  }

  /** Throws where it may be told later; what the gateway refuses is told to the log alone. */
  async #send(run: RunView, ended: EndedAttempt): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await this.#gateways.control(run, 'ended', { ...ended }, signal);
    if (response === null) throw new Error('the gateway is not made');
    await response.body?.cancel();
    if (response.status >= 500) throw new Error(`the gateway answered ${response.status}`);
    if (!response.ok)
      this.#log.warn(
        { run: run.name, ...ended, status: response.status },
        'the gateway refused an ended attempt',
      );
  }
}
