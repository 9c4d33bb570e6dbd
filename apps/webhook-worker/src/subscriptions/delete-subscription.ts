import { Database } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { BulkUpdateRequests } from './bulk-update-requests.js';
import { deletionStatement, markDeleted } from './mark-deleted.js';
import { ownedId } from './owner.js';

// `$1` is the reason.
const deleteOwned = deletionStatement(
  'subscriptions.delete',
  'id = $2 AND creator_id = $3 AND client_id = $4',
);

@Injectable()
export class DeleteSubscription {
  constructor(
    private readonly database: Database,
    private readonly bulkUpdates: BulkUpdateRequests,
  ) {}

  /** Stops all deliveries, including retries. @throws NotFound, also when repeated */
  async run(caller: Caller, webhookId: string): Promise<void> {
    const { id, creatorId, clientId } = ownedId(caller, webhookId);
    await this.database.transaction(async (tx) => {
      const deleted = await markDeleted(tx, this.bulkUpdates, deleteOwned, {
        reason: 'owner',
        values: [id, creatorId, clientId],
      });
      if (deleted.length === 0) throwNotFound('webhook subscription');
    });
  }
}
