/**
 * Divides items into groups with at most one item of each key, in order: the second item of a key is in the
 * second group.
 */
export function groupDistinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups: Item[][] = [];
  const counts = new Map<string, number>();
  for (const item of items) {
    const key = keyOf(item);
    const earlier = counts.get(key) ?? 0;
    counts.set(key, earlier + 1);
    (groups[earlier] ??= []).push(item);
  }
  return groups;
}
