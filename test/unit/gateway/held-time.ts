import type { GatewayClock } from '../../../src/gateway/clock.ts';

/** A clock that stands still until it is told to go on. */
export class HeldTime implements GatewayClock {
  private now = 0;
  private readonly timers = new Set<{ at: number; action: () => void }>();

  readonly monotonicMs = () => this.now;
  readonly date = () => new Date(Date.UTC(2026, 0, 1) + this.now);
  readonly after = (ms: number, action: () => void) => {
    const timer = { at: this.now + ms, action };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  };

  /** Goes on by `ms`, with every timer that is due on the way; then lets promises run. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      const due = [...this.timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.delete(due);
      this.now = Math.max(this.now, due.at);
      due.action();
      await settle();
    }
    this.now = until;
    await settle();
  }
}

/** Lets everything run that waits for nothing. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
