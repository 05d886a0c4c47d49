/** Does something with each item, at most `most` at once. The first failure ends it. */
export async function eachOf<Item>(
  items: readonly Item[],
  most: number,
  action: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      // The iterator is shared: each of the workers takes the next.
      for (const item of waiting) await action(item);
    }),
  );
}
