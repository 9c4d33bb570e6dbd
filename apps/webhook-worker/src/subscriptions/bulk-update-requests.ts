import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';

const request = statement(
  'bulk-updates.request-state-sync',
  `INSERT INTO webhook_alignments (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Requests that deliveries are updated to the state that their subscriptions require, in the transaction that
 * changes this state. A running service does so within a second; at once when called by
 * `BulkUpdateRequests.syncState`.
 */
export async function requestStateSync(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length > 0) await tx.run(request, [subscriptionIds]);
}

/** Requests bulk updates, and notifies `BulkUpdates` of this process after the commit. */
@Injectable()
export class BulkUpdateRequests {
  private readonly listeners: (() => void)[] = [];

  /** Calls back after each commit that requests a bulk update. */
  onRequest(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * Requests a state sync. Call it in the transaction that changes the state of subscriptions or of their
   * deliveries.
   */
  async syncState(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    await requestStateSync(tx, subscriptionIds);
    this.startAfterCommit(tx);
  }

  /** Runs a round after the commit. Call it in the transaction that inserts a recovery or a state sync. */
  startAfterCommit(tx: Transaction): void {
    for (const listener of this.listeners) tx.afterCommit(listener);
  }
}
