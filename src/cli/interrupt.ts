import { EXIT } from './exit-codes.ts';

/** Signals by which people and supervisors ask a program to end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A signal that is aborted by Ctrl-C (or SIGTERM), so that work can end in order. The second time the program
 * ends at once; what was running is then resumed as interrupted.
 *
 * @param said what the first time prints
 */
export function interruptSignal(said = 'ending: collecting what runs (once more to end at once)'): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.INTERRUPTED);
    process.stderr.write(`\n${said}\n`);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

/** The same for a program that nobody watches: it says nothing, and ends by itself once its work is in order. */
export function terminationSignal(): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const onSignal = (): void => controller.abort();
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
