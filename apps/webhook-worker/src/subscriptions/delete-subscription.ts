import { Database } from '@fulfilment/database';
import { notFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import { ending, endSubscriptions } from './end-subscriptions.js';
import { ownedId } from './owner.js';

const endOwned = ending('subscriptions.delete', 'id = $2 AND creator_id = $3 AND client_id = $4');

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
      const ended = await endSubscriptions(tx, endOwned, 'owner', id, creatorId, clientId);
      if (ended.length === 0) notFound('webhook subscription');
      this.moves.wakeAfter(tx);
    });
  }
}
