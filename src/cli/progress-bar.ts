/** Where progress is written: standard error, so that standard output stays for results. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A line that is redrawn on a terminal and not written at all elsewhere. */
export interface ProgressBar {
  readonly onTerminal: boolean;
  /** Writes a line of its own above the bar. */
  readonly line: (text: string) => void;
  readonly redraw: () => void;
  /** Ends the bar's line, so that what follows starts on a line of its own. */
  readonly close: () => void;
}

/**
 * @param draw the bar's text for a number of columns, or null while there is nothing to show
 */
export function createBar(stream: ProgressStream, draw: (columns: number) => string | null): ProgressBar {
  const onTerminal = stream.isTTY === true;
  let drawn = false;

  function redraw(): void {
    const text = onTerminal ? draw(stream.columns ?? 80) : null;
    if (text === null) return;
    drawn = true;
    stream.write(`\r\u001b[K${text}`);
  }

  const timer = onTerminal ? setInterval(redraw, 1000).unref() : undefined;

  return {
    onTerminal,
    line: (text) => {
      stream.write(onTerminal ? `\r\u001b[K${text}\n` : `${text}\n`);
      redraw();
    },
    redraw,
    close: () => {
      clearInterval(timer);
      if (drawn) stream.write('\n');
      drawn = false;
    },
  };
}
