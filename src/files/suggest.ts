/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(beforeLast, column - 2) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

/**
 * The known word that was most likely meant, or undefined when none is near: at most a third of the letters
 * may differ (at least one, at most three), or one word is the other's beginning.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  // Distance is quadratic in the length; nobody misspells a name of this size.
  if (word.length > 200) return undefined;
  const folded = fold(word);
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    if (candidate.length > 200) continue;
    const distance = editDistance(folded, fold(candidate));
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  if (best === undefined) return undefined;
  const allowed = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  if (best.distance <= allowed) return best.word;
  return [...known].find(
    (candidate) =>
      folded.length >= 4 && (fold(candidate).startsWith(folded) || folded.startsWith(`${fold(candidate)}_`)),
  );
}

/** `Did you mean "x"?`, or undefined. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const candidate = nearest(word, known);
  return candidate === undefined ? undefined : `Did you mean "${candidate}"?`;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-\s]/g, '_');
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
