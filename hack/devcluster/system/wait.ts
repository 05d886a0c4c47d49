import { setTimeout as sleep } from 'node:timers/promises';
import { DevclusterError } from '../errors.ts';

export interface WaitOptions {
  /** Finishes "waited N s for ...". */
  readonly what: string;
  readonly seconds: number;
  readonly everyMilliseconds?: number;
  /** A reason why waiting on is in vain, or undefined. */
  readonly hopeless?: () => string | undefined;
}

/** Asks until the answer is not undefined. @throws DevclusterError when time is up or the wait is hopeless */
export async function waitFor<Value>(
  ask: () => Promise<Value | undefined>,
  options: WaitOptions,
): Promise<Value> {
  const end = performance.now() + options.seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const hopeless = options.hopeless?.();
    if (hopeless !== undefined) throw new DevclusterError(hopeless);
    if (performance.now() > end)
      throw new DevclusterError(`waited ${options.seconds} s for ${options.what} in vain`);
    await sleep(options.everyMilliseconds ?? 50);
  }
}
