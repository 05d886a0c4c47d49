/** How far back a rate looks. */
const WINDOW_MS = 60_000;

/** What was used within the last minute of something that has a limit a minute. */
class MinuteWindow {
  private readonly limit: number;
  private readonly used: { readonly at: number; readonly amount: number }[] = [];
  private sum = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(now: number, amount: number): void {
    if (amount <= 0) return;
    this.used.push({ at: now, amount });
    this.sum += amount;
  }

  /** Until the window is below its limit again; 0 when it is. */
  waitMs(now: number): number {
    for (let first = this.used[0]; first !== undefined && first.at + WINDOW_MS <= now; first = this.used[0]) {
      this.sum -= first.amount;
      this.used.shift();
    }
    let sum = this.sum;
    for (const { at, amount } of this.used) {
      if (sum < this.limit) return 0;
      sum -= amount;
      if (sum < this.limit) return at + WINDOW_MS - now;
    }
    return 0;
  }
}

/**
 * `requestsPerMinute` and `tokensPerMinute` of a model, as sliding windows. Tokens are known only after a call, so
 * calls wait once the minute's tokens are used up; what runs then may pass the limit by one answer each.
 */
export class RateLimits {
  private readonly requests: MinuteWindow | null;
  private readonly tokens: MinuteWindow | null;

  constructor(limits: {
    readonly requestsPerMinute?: number | undefined;
    readonly tokensPerMinute?: number | undefined;
  }) {
    this.requests =
      limits.requestsPerMinute === undefined ? null : new MinuteWindow(limits.requestsPerMinute);
    this.tokens = limits.tokensPerMinute === undefined ? null : new MinuteWindow(limits.tokensPerMinute);
  }

  /** Until another call may start; milliseconds. `now` is monotonic. */
  waitMs(now: number): number {
    return Math.max(this.requests?.waitMs(now) ?? 0, this.tokens?.waitMs(now) ?? 0);
  }

  started(now: number): void {
    this.requests?.add(now, 1);
  }

  usedTokens(now: number, tokens: number): void {
    this.tokens?.add(now, tokens);
  }
}
