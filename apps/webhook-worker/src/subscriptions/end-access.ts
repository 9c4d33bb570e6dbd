import { type Message, messages, publicId } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import { type DeletedReason, ending, endSubscriptions } from './end-subscriptions.js';
import { type EndedAccess, fallsWith, noteEndedAccess } from './ended-access.js';

const batchSize = 1000;
const loggedIds = 50;

/** In the order in which others lock several subscriptions. */
const ofAccess = (which: string): string =>
  `id IN (SELECT id FROM webhook_subscriptions
     WHERE client_id = $2 AND deleted_at IS NULL AND ${fallsWith('authorized_at', 'created_at', '$3::timestamptz')}${which}
     ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE)`;
const endOfClient = ending('subscriptions.end-of-client', ofAccess(''));
const endOfConnection = ending('subscriptions.end-of-connection', ofAccess(' AND creator_id = $4'));

/**
 * Subscriptions end with the access they were made by: nobody has a token any more that could delete them. Owners are not told by a message:
 * it is they or the operator who ended the access, and what the app holds is refused.
 */
@Injectable()
export class EndAccess {
  constructor(
    private readonly moves: MoveDeliveries,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Once more, or late, it ends nothing that was made by access given since. */
  async run(tx: Transaction, message: Message): Promise<void> {
    const endedAt = message.occurred_at;
    if (messages.clientDeleted.is(message)) {
      const { client_id: clientId } = message.data;
      await this.end(tx, { clientId, creatorId: undefined, endedAt }, 'client_deleted');
    } else if (messages.clientDisconnected.is(message)) {
      const { client_id: clientId, creator_id: creatorId } = message.data;
      await this.end(tx, { clientId, creatorId, endedAt }, 'client_disconnected');
    }
  }

  private async end(tx: Transaction, access: EndedAccess, reason: DeletedReason): Promise<void> {
    await noteEndedAccess(tx, access);
    const { clientId, creatorId, endedAt } = access;
    const [which, values] =
      creatorId === undefined
        ? [endOfClient, [clientId, endedAt]]
        : [endOfConnection, [clientId, endedAt, creatorId]];
    const ended: string[] = [];
    for (let batch: string[] | undefined; batch === undefined || batch.length === batchSize;) {
      batch = await endSubscriptions(tx, which, reason, ...values);
      ended.push(...batch);
    }
    if (ended.length === 0) return;
    this.moves.wakeAfter(tx);
    tx.afterCommit(() =>
      this.logger.info(
        {
          reason,
          client_id: clientId,
          creator_id: creatorId,
          subscriptions: ended.length,
          subscription_ids: ended.slice(0, loggedIds).map((id) => publicId('whk', id)),
        },
        'Webhook subscriptions ended with the access they were made by.',
      ),
    );
  }
}
