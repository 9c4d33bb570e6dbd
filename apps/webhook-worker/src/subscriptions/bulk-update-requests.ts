import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';

const insert = statement(
  'bulk-updates.insert-state-syncs',
  `INSERT INTO webhook_state_syncs (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Inserts requests for a state sync: deliveries are held, released or cancelled as the state of their
 * subscription requires. Call it in the transaction that changes this state. `BulkUpdates` polls for requests
 * each second; `BulkUpdateRequests.requestStateSync` also starts `BulkUpdates` after the commit.
 */
export async function insertStateSyncs(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
  if (subscriptionIds.length > 0) await tx.run(insert, [subscriptionIds]);
}

/** Requests bulk updates, and notifies `BulkUpdates` of this process after the commit. */
@Injectable()
export class BulkUpdateRequests {
  private readonly listeners: (() => void)[] = [];

  /** Registers a callback for commits of this process that request a bulk update. */
  onRequest(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * Requests a state sync, which starts after the commit. Call it in the transaction that changes the state
   * of subscriptions or of their deliveries.
   */
  async requestStateSync(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    await insertStateSyncs(tx, subscriptionIds);
    this.startRequestedAfterCommit(tx);
  }

  /**
   * Starts bulk updates after the commit. Call it in the transaction that requests a recovery or state sync.
   */
  startRequestedAfterCommit(tx: Transaction): void {
    for (const listener of this.listeners) tx.afterCommit(listener);
  }
}
