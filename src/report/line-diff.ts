/** One line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3;

/** Edits beyond which a file counts as rewritten: finding the shortest script costs their square in memory. */
const MOST_EDITS = 300;

/**
 * The shortest script of removed and added lines that turns `before` into `after` (E. Myers, An O(ND)
 * Difference Algorithm, 1986). Texts that differ by more than `MOST_EDITS` lines are shown as removed whole
 * and added whole.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return [
    ...a.slice(0, start).map(same),
    ...shortestScript(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

/**
 * `diffLines` in the words of `diff -u`: `@@` before each hunk with the lines it begins at, then lines that
 * begin with a space, `+` or `-`. Empty where the texts are equal.
 */
export function unifiedDiff(before: string, after: string): string[] {
  const lines = diffLines(before, after);
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((near) => near.kind !== 'same'),
  );
  const output: string[] = [];
  let beforeLine = 1;
  let afterLine = 1;
  for (const [i, line] of lines.entries()) {
    if (shown[i] === true) {
      if (shown[i - 1] !== true) output.push(`@@ -${beforeLine} +${afterLine} @@`);
      output.push(`${line.kind === 'same' ? ' ' : line.kind === 'added' ? '+' : '-'}${line.text}`);
    }
    if (line.kind !== 'added') beforeLine += 1;
    if (line.kind !== 'removed') afterLine += 1;
  }
  return output;
}

function shortestScript(a: readonly string[], b: readonly string[]): DiffLine[] {
  const limit = Math.min(a.length + b.length, MOST_EDITS);
  const reach = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      let x = stepsDown(reach, k, edits) ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return scriptOf(trace, a, b);
    }
  }
  return [...a.map(removed), ...b.map(added)];
}

/** Walks the furthest-reaching paths back from the end of both texts. */
function scriptOf(
  trace: readonly Map<number, number>[],
  a: readonly string[],
  b: readonly string[],
): DiffLine[] {
  const script: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (const [edits, reach] of [...trace.entries()].reverse()) {
    const k = x - y;
    const from = stepsDown(reach, k, edits) ? k + 1 : k - 1;
    const fromX = edits === 0 ? 0 : at(reach, from);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      script.push(same(a[x] ?? ''));
    }
    if (y > fromY) script.push(added(b[--y] ?? ''));
    else if (x > fromX) script.push(removed(a[--x] ?? ''));
  }
  return script.reverse();
}

function stepsDown(reach: ReadonlyMap<number, number>, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && at(reach, k - 1) < at(reach, k + 1));
}

function at(reach: ReadonlyMap<number, number>, k: number): number {
  return reach.get(k) ?? -1;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const same = (text: string): DiffLine => ({ kind: 'same', text });
const added = (text: string): DiffLine => ({ kind: 'added', text });
const removed = (text: string): DiffLine => ({ kind: 'removed', text });
