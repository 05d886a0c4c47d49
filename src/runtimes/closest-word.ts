/**
 * The word of `words` that a misspelt one most likely means, or undefined when none is near: at most a third of
 * its letters (but at least one, at most three) may differ.
 */
export function closestWord(misspelt: string, words: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  for (const word of words) {
    const distance = editDistance(misspelt.toLowerCase(), word.toLowerCase());
    const allowed = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { word, distance };
  }
  return best?.word;
}

/** Levenshtein distance; both words are cut to 64 characters, so that a long one costs nothing. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, 64);
  const b = right.slice(0, 64);
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
