import { advance, NO_PROGRESS, plainLine, progressLine, type RunEvent } from '../local/progress.ts';
import { createBar, type ProgressStream } from './progress-bar.ts';

/** A bar that is redrawn on a terminal, plain lines elsewhere. */
export function createProgress(stream: ProgressStream, now: () => number) {
  let state = NO_PROGRESS;
  let startedAt = now();
  const bar = createBar(stream, (columns) =>
    state.trials === 0 ? null : progressLine(state, (now() - startedAt) / 1000, columns),
  );

  return {
    /** Takes an event of the run. */
    event: (event: RunEvent): void => {
      if (event.kind === 'run-started') startedAt = now();
      state = advance(state, event);
      const line = plainLine(event, state);
      const passed = event.kind === 'trial-ended' && event.outcome === 'pass';
      // On a terminal the bar tells what passed; only what needs attention gets a line of its own.
      if (line !== null && !(bar.onTerminal && passed)) bar.line(line);
      else bar.redraw();
    },
    /** Ends the bar's line. */
    close: bar.close,
  };
}
