import type { CreatorSnapshot, OrderSnapshot } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { recordCreators } from '../creators/record-creators.js';
import type { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { projectOrders } from '../orders/project-orders.js';

/**
 * Stores the latest version of each creator and order, and posts the orders that were paid or refunded.
 * @param options.replay also overwrites rows of the same version, and posts what the ledger lacks
 */
export async function applySnapshots(
  tx: Transaction,
  { creators, orders }: { creators: readonly CreatorSnapshot[]; orders: readonly OrderSnapshot[] },
  posting: Pick<LedgerPosting, 'scheduleCreators'>,
  options: { readonly replay?: boolean } = {},
): Promise<void> {
  await recordCreators(tx, latestVersions(creators), options);
  await projectOrders(tx, latestVersions(orders), options);
  // Paid orders may be waiting for these creators.
  if (creators.length > 0) tx.afterCommit(() => posting.scheduleCreators(creators.map(({ id }) => id)));
}

function latestVersions<Snapshot extends { readonly id: string; readonly version: number }>(
  snapshots: readonly Snapshot[],
): Snapshot[] {
  const latest = new Map<string, Snapshot>();
  for (const snapshot of snapshots) {
    const known = latest.get(snapshot.id);
    if (known === undefined || known.version < snapshot.version) latest.set(snapshot.id, snapshot);
  }
  return [...latest.values()];
}
