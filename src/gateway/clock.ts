/** Time as the gateway sees it; passed in, so that tests can hold it. */
export interface GatewayClock {
  /** Milliseconds that never go backwards. All durations come from it. */
  readonly monotonicMs: () => number;
  /** Time of day, for records and the expiry of tokens. */
  readonly date: () => Date;
  /** Calls `action` after `ms`. @returns what takes the wish back */
  readonly after: (ms: number, action: () => void) => () => void;
}

export const systemGatewayClock: GatewayClock = {
  monotonicMs: () => performance.now(),
  date: () => new Date(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};
