/**
 * Share of `expected` found in `actual` as a subsequence, by a greedy scan that stops at the first expected name
 * it does not find: [a, c] in [a, b] is 1/2, and so is [a, x, b], although b is there.
 *
 * @returns number of names found; the caller divides
 */
export function subsequenceLength(actual: readonly string[], expected: readonly string[]): number {
  let position = 0;
  let matched = 0;
  for (const name of expected) {
    const found = actual.indexOf(name, position);
    if (found === -1) break;
    matched += 1;
    position = found + 1;
  }
  return matched;
}
