import { advance, NO_PROGRESS, plainLine, progressLine, type RunEvent } from '../local/progress.ts';

/** Where progress is written: standard error, so that standard output stays for results. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A bar that is redrawn on a terminal, plain lines elsewhere. */
export function createProgress(stream: ProgressStream, now: () => number) {
  let state = NO_PROGRESS;
  let startedAt = now();
  const onTerminal = stream.isTTY === true;

  function redraw(): void {
    if (!onTerminal || state.trials === 0) return;
    stream.write(`\r\u001b[K${progressLine(state, (now() - startedAt) / 1000, stream.columns ?? 80)}`);
  }

  const timer = onTerminal ? setInterval(redraw, 1000).unref() : undefined;

  return {
    /** Takes an event of the run. */
    event: (event: RunEvent): void => {
      if (event.kind === 'run-started') startedAt = now();
      state = advance(state, event);
      const line = plainLine(event, state);
      const passed = event.kind === 'trial-ended' && event.outcome === 'pass';
      // On a terminal the bar tells what passed; only what needs attention gets a line of its own.
      if (line !== null && !(onTerminal && passed))
        stream.write(onTerminal ? `\r\u001b[K${line}\n` : `${line}\n`);
      redraw();
    },
    /** Ends the bar's line. */
    close: (): void => {
      clearInterval(timer);
      if (onTerminal && state.trials > 0) stream.write('\n');
    },
  };
}
