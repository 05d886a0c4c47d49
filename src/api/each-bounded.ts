/**
 * Does `work` for every item, at most `limit` at once, and gives the results in order of the items. After the first
 * failure no further item is begun; it is thrown when those under way have ended.
 */
export async function eachBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failure: { readonly error: unknown } | null = null;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === null) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  // Assigned inside the workers, which the compiler does not follow.
  const failed = failure as { readonly error: unknown } | null;
  if (failed !== null) throw failed.error;
  return results;
}
