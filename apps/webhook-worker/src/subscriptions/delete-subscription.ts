import { Database, statement } from '@fulfilment/database';
import { notFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import { ownedId } from './owner.js';

// The row stays for its history; the secrets go at once.
const remove = statement(
  'subscriptions.delete',
  `UPDATE webhook_subscriptions SET deleted_at = now(), secret = '', previous_secret = NULL
   WHERE id = $1 AND creator_id = $2 AND client_id = $3 AND deleted_at IS NULL`,
);

@Injectable()
export class DeleteSubscription {
  constructor(
    private readonly database: Database,
    private readonly moves: MoveDeliveries,
  ) {}

  /** Nothing is sent any more, retries included. @throws NotFound, also the second time */
  async run(caller: Caller, publicId: string): Promise<void> {
    const { id, creatorId, clientId } = ownedId(caller, publicId);
    await this.database.transaction(async (tx) => {
      const removed = await tx.run(remove, [id, creatorId, clientId]);
      if (removed === 0) notFound('webhook subscription');
      await this.moves.align(tx, [id]);
    });
  }
}
