/** Of snapshots of the same thing, the one with the highest version. */
export function newestOfEach<Snapshot extends { readonly id: string; readonly version: number }>(
  snapshots: readonly Snapshot[],
): Snapshot[] {
  const newest = new Map<string, Snapshot>();
  for (const snapshot of snapshots) {
    const known = newest.get(snapshot.id);
    if (known === undefined || known.version < snapshot.version) newest.set(snapshot.id, snapshot);
  }
  return [...newest.values()];
}
