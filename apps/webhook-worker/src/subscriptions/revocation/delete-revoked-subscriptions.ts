import { type Message, messages, publicId } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { BulkUpdateRequests } from '../bulk-update-requests.js';
import { type DeletedReason, deletionStatement, markDeleted } from '../mark-deleted.js';
import {
  type AccessRevocation,
  issuedBeforeRevocationSql,
  finishRevocation,
  recordRevocation,
  lockUnfinishedRevocation,
} from './access-revocations.js';

const batchSize = 1000;
const maxLoggedIds = 50;
const pollIntervalMs = 1_000;

/**
 * SQL condition for one batch. Locks the subscriptions in the order of their ids, as other statements do. A
 * subquery in ARRAY runs once; in IN (SELECT … LIMIT) it may run several times, and find another batch each
 * time.
 */
const idsOfRevokedAccess = (condition: string): string =>
  `id = ANY (ARRAY(SELECT id FROM webhook_subscriptions
     WHERE client_id = $2 AND deleted_at IS NULL
       AND ${issuedBeforeRevocationSql('authorized_at', 'created_at', '$3::timestamptz')}${condition}
     ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE))`;
// `$1` is the reason.
const deleteOfClient = deletionStatement('subscriptions.delete-of-client', idsOfRevokedAccess(''));
const deleteOfConnection = deletionStatement(
  'subscriptions.delete-of-connection',
  idsOfRevokedAccess(' AND creator_id = $4'),
);

/**
 * Deletes the subscriptions that were created with access that is revoked, since no valid token can delete
 * them. Owners are not notified: they or the operator revoked the access. A transaction deletes at most 1000
 * subscriptions, so that no lock lasts long: the message deletes the first batch, a loop the others. From the
 * message on, no delivery is sent for any of them (delivery/claiming/claim-deliveries.ts).
 */
@Injectable()
export class DeleteRevokedSubscriptions extends BackgroundLoop {
  constructor(
    private readonly bulkUpdates: BulkUpdateRequests,
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({
      name: 'webhook-delete-revoked-subscriptions',
      intervalMs: pollIntervalMs,
      logger,
      round: () => this.round(),
    });
  }

  /**
   * Records the revocation that a message reports, and deletes its first batch of subscriptions. A repeated
   * or late message does not delete subscriptions of access that was granted since.
   */
  async run(tx: Transaction, message: Message): Promise<void> {
    const revocation = revocationOf(message);
    if (revocation === undefined) return;
    await recordRevocation(tx, revocation);
    await this.deleteBatch(tx, revocation);
  }

  /** Deletes the next batch of any revoked access. Returns whether there may be more. */
  private round(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const revocation = await lockUnfinishedRevocation(tx);
      if (revocation === undefined) return false;
      await this.deleteBatch(tx, revocation);
      return true;
    });
  }

  private async deleteBatch(tx: Transaction, revocation: AccessRevocation): Promise<void> {
    const { clientId, creatorId, revokedAt } = revocation;
    const reason = deletedReason(revocation);
    const deletion = creatorId === null ? deleteOfClient : deleteOfConnection;
    const values = creatorId === null ? [clientId, revokedAt] : [clientId, revokedAt, creatorId];
    const deleted = await markDeleted(tx, this.bulkUpdates, deletion, { reason, values });
    if (deleted.length < batchSize) await finishRevocation(tx, revocation);
    else tx.afterCommit(() => this.wake());
    if (deleted.length > 0) tx.afterCommit(() => this.log(revocation, deleted));
  }

  private log(revocation: AccessRevocation, deleted: readonly string[]): void {
    this.logger.info(
      {
        reason: deletedReason(revocation),
        client_id: revocation.clientId,
        creator_id: revocation.creatorId ?? undefined,
        subscriptions: deleted.length,
        subscription_ids: deleted.slice(0, maxLoggedIds).map((id) => publicId('whk', id)),
      },
      'Webhook subscriptions were deleted because their access was revoked.',
    );
  }
}

function deletedReason({ creatorId }: AccessRevocation): DeletedReason {
  return creatorId === null ? 'client_deleted' : 'client_disconnected';
}

function revocationOf(message: Message): AccessRevocation | undefined {
  const revokedAt = message.occurred_at;
  if (messages.clientDeleted.is(message)) {
    return { clientId: message.data.client_id, creatorId: null, revokedAt };
  }
  if (messages.clientDisconnected.is(message)) {
    const { client_id: clientId, creator_id: creatorId } = message.data;
    return { clientId, creatorId, revokedAt };
  }
  return undefined;
}
