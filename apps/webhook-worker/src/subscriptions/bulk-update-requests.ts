import { statement, type Transaction } from '@fulfilment/database';
import { Injectable } from '@nestjs/common';

const insert = statement(
  'bulk-updates.insert-state-syncs',
  `INSERT INTO webhook_state_syncs (subscription_id) SELECT unnest($1::uuid[]) ORDER BY 1
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);

/**
 * Requests bulk updates. `BulkUpdates` of this process starts them after the commit, those of other processes
 * within a second.
 */
@Injectable()
export class BulkUpdateRequests {
  private wake: () => void = () => undefined;

  /** Sets the callback that runs after each commit that requested a bulk update; `BulkUpdates` sets it. */
  onRequested(wake: () => void): void {
    this.wake = wake;
  }

  /**
   * Requests a state sync: deliveries are held, released or cancelled as the state of their subscription
   * requires. Call it in the transaction that changes the state of subscriptions or of their deliveries.
   */
  async requestStateSync(tx: Transaction, subscriptionIds: readonly string[]): Promise<void> {
    if (subscriptionIds.length === 0) return;
    await tx.run(insert, [subscriptionIds]);
    this.startAfterCommit(tx);
  }

  /** Starts a bulk update after the commit. Call it in the transaction that inserts a recovery. */
  startAfterCommit(tx: Transaction): void {
    tx.afterCommit(() => this.wake());
  }
}
