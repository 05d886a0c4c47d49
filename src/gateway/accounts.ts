import type { ModelSpec } from '../api/benchmark-run.ts';
import type { ModelCallRecord, TokenUsage } from '../api/model-calls.ts';
import type { JournalEntry } from './journal.ts';

/** Sums over calls. */
export interface Totals {
  readonly calls: number;
  /** Calls that ended in a provider error. */
  readonly errors: number;
  /** Cached tokens included. */
  readonly tokens: number;
  readonly costUsd: number;
}

interface AttemptAccount {
  begun: number;
  ended: boolean;
  /** Kept until the attempt has ended: who wants them fetches them before. */
  calls: ModelCallRecord[];
}

const NOTHING: Totals = { calls: 0, errors: 0, tokens: 0, costUsd: 0 };

/** What each attempt and the run have used, rebuilt from the journal after a restart. */
export class Accounts {
  private readonly attempts = new Map<string, AttemptAccount>();
  private run = NOTHING;
  private begunInRun = 0;

  constructor(entries: readonly JournalEntry[] = []) {
    for (const entry of entries) this.replay(entry);
  }

  get totals(): Totals {
    return this.run;
  }

  /** A call has come. @returns its 1-based places among the attempt's and the run's calls */
  begin(trial: string, attempt: number): { readonly ordinal: number; readonly runOrdinal: number } {
    const account = this.account(trial, attempt);
    account.begun += 1;
    return { ordinal: account.begun, runOrdinal: this.beginInRun() };
  }

  /** A call of no attempt has come. @returns its 1-based place among the run's calls */
  beginInRun(): number {
    this.begunInRun += 1;
    return this.begunInRun;
  }

  /** A call has ended. */
  add(call: ModelCallRecord): void {
    const account = this.account(call.trial, call.attempt);
    if (!account.ended) account.calls.push(call);
    const { calls, errors, tokens, costUsd } = this.run;
    this.run = {
      calls: calls + 1,
      errors: errors + (call.error === null ? 0 : 1),
      tokens: tokens + (call.usage === null ? 0 : allTokens(call.usage)),
      costUsd: costUsd + (call.costUsd ?? 0),
    };
  }

  end(trial: string, attempt: number): void {
    const account = this.account(trial, attempt);
    account.ended = true;
    account.calls = [];
  }

  hasEnded(trial: string, attempt: number): boolean {
    return this.attempts.get(attemptKey(trial, attempt))?.ended ?? false;
  }

  /** The ended calls of a running attempt, in the order they ended. */
  callsOf(trial: string, attempt: number): readonly ModelCallRecord[] {
    return this.attempts.get(attemptKey(trial, attempt))?.calls ?? [];
  }

  private replay(entry: JournalEntry): void {
    switch (entry.type) {
      case 'call': {
        const account = this.account(entry.call.trial, entry.call.attempt);
        account.begun = Math.max(account.begun, entry.call.ordinal);
        this.begunInRun += 1;
        this.add(entry.call);
        break;
      }
      case 'ended':
        this.end(entry.trial, entry.attempt);
        break;
      case 'preflight':
        this.begunInRun += 1;
        break;
    }
  }

  private account(trial: string, attempt: number): AttemptAccount {
    const key = attemptKey(trial, attempt);
    let account = this.attempts.get(key);
    if (account === undefined) {
      account = { begun: 0, ended: false, calls: [] };
      this.attempts.set(key, account);
    }
    return account;
  }
}

/** One word for an attempt of a run. */
export function attemptKey(trial: string, attempt: number): string {
  return `${trial}/${attempt}`;
}

export function allTokens({ input, output, cacheRead, cacheWrite }: TokenUsage): number {
  return input + output + cacheRead + cacheWrite;
}

/**
 * What tokens cost in USD. A price that is not given is taken for that of plain input where tokens are cached, and
 * makes the cost unknown elsewhere.
 */
export function costOf(usage: TokenUsage | null, pricing: ModelSpec['pricing']): number | null {
  if (usage === null || pricing === undefined) return null;
  const { inputPerMillion: input, outputPerMillion: output } = pricing;
  if (input === undefined || output === undefined) return null;
  const { cacheReadPerMillion = input, cacheWritePerMillion = input } = pricing;
  return (
    (usage.input * input +
      usage.output * output +
      usage.cacheRead * cacheReadPerMillion +
      usage.cacheWrite * cacheWritePerMillion) /
    1_000_000
  );
}
