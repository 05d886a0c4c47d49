/** Median of at least one number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = low] =
    sorted.length % 2 === 1 ? [sorted[middle]] : sorted.slice(middle - 1, middle + 1);
  return (low + high) / 2;
}
