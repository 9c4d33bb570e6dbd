/** Returns the snapshot with the highest version for each id. */
export function latestVersions<Snapshot extends { readonly id: string; readonly version: number }>(
  snapshots: readonly Snapshot[],
): Snapshot[] {
  const latest = new Map<string, Snapshot>();
  for (const snapshot of snapshots) {
    const known = latest.get(snapshot.id);
    if (known === undefined || known.version < snapshot.version) latest.set(snapshot.id, snapshot);
  }
  return [...latest.values()];
}
