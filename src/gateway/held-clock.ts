import { z } from 'zod';

/** Answer of GET /attempts/self/waits. */
const waitsSchema = z.object({ life: z.string(), heldMs: z.number().min(0), holding: z.boolean() });

export interface HeldClockOptions {
  /** Asks the gateway for the attempt's waits; throws when it is away. */
  readonly ask: () => Promise<unknown>;
  readonly pollMs: number;
  /** The gateway is given up when it was away so long while calls were open. */
  readonly patienceMs: number;
  readonly onAway: (message: string) => void;
  /** Monotonic milliseconds; injected by tests. */
  readonly nowMs?: () => number;
}

/**
 * How long an attempt's calls were held: by the gateway's queue, which is asked again and again while calls are open,
 * and by waiting for a gateway that is away. Never goes backwards, whatever a gateway that was started anew says.
 */
export class HeldClock {
  private readonly options: HeldClockOptions;
  private readonly nowMs: () => number;
  private open = 0;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private asking = false;
  /** Held in earlier lives of the gateway, and by waiting for it. */
  private before = 0;
  private life: string | null = null;
  private told = 0;
  private holdingSince: number | null = null;
  private waits = 0;
  private waitingSince: number | null = null;
  private awaySince: number | null = null;
  private highest = 0;

  constructor(options: HeldClockOptions) {
    this.options = options;
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  ms(): number {
    const now = this.nowMs();
    // What the gateway said last is believed to go on, but not for long: it may be gone.
    const sinceTold =
      this.holdingSince === null ? 0 : Math.min(now - this.holdingSince, 3 * this.options.pollMs);
    const waiting = this.waitingSince === null ? 0 : now - this.waitingSince;
    this.highest = Math.max(this.highest, this.before + this.told + Math.max(sinceTold, 0) + waiting);
    return this.highest;
  }

  opened(): void {
    this.open += 1;
    if (this.open === 1) {
      this.awaySince = null;
      this.next();
    }
  }

  closed(): void {
    this.open -= 1;
    if (this.open > 0) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.holdingSince = null;
    // The last word on calls that were held and answered between two looks.
    void this.look();
  }

  /** A call waits for a gateway that is away. */
  beginWait(): void {
    this.waits += 1;
    this.waitingSince ??= this.nowMs();
  }

  endWait(): void {
    this.waits -= 1;
    if (this.waits > 0 || this.waitingSince === null) return;
    this.before += this.nowMs() - this.waitingSince;
    this.waitingSince = null;
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private next(): void {
    if (this.stopped || this.open === 0) return;
    this.timer = setTimeout(() => {
      void this.look().then(() => this.next());
    }, this.options.pollMs);
  }

  private async look(): Promise<void> {
    if (this.asking || this.stopped) return;
    this.asking = true;
    try {
      const { life, heldMs, holding } = waitsSchema.parse(await this.options.ask());
      if (this.life !== null && this.life !== life) this.before += this.told;
      this.life = life;
      this.told = heldMs;
      this.holdingSince = holding && this.open > 0 ? this.nowMs() : null;
      this.awaySince = null;
    } catch {
      // The calls themselves tell soonest; this is for a gateway whose machine is gone without a word.
      this.holdingSince = null;
      this.awaySince ??= this.nowMs();
      const awayMs = this.nowMs() - this.awaySince;
      if (this.open > 0 && this.waits === 0 && awayMs >= this.options.patienceMs) {
        this.options.onAway(`the gateway did not answer for ${Math.round(awayMs / 1000)} s`);
      }
    } finally {
      this.asking = false;
    }
  }
}
