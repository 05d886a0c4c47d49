/** A column of a table for terminals. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Longest width; longer cells are cut with an ellipsis. */
  readonly max?: number;
}

/** Lines of a table with two spaces between columns and no trailing space. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const cells = [columns.map((column) => column.title), ...rows].map((row) =>
    columns.map((column, i) => cut(row[i] ?? '', column.max ?? Infinity)),
  );
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, i) => {
        const width = widths[i] ?? 0;
        return columns[i]?.align === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Sentences broken at spaces into lines of at most `width` characters, indented. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length > indent.length && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
    }
    line = line.length === indent.length ? line + word : `${line} ${word}`;
  }
  return [...lines, line];
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
