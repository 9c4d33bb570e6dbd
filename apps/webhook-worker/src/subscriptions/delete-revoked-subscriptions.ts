import { type Message, messages, publicId } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import { ending, endSubscriptions } from './end-subscriptions.js';
import {
  type EndedAccess,
  fallsWith,
  finishEndedAccess,
  noteEndedAccess,
  takeUnfinished,
} from './ended-access.js';

const batchSize = 1000;
const loggedIds = 50;
const pollIntervalMs = 1_000;

/** In the order in which others lock several subscriptions. */
const ofAccess = (which: string): string =>
  `id IN (SELECT id FROM webhook_subscriptions
     WHERE client_id = $2 AND deleted_at IS NULL AND ${fallsWith('authorized_at', 'created_at', '$3::timestamptz')}${which}
     ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE)`;
const endOfClient = ending('subscriptions.end-of-client', ofAccess(''));
const endOfConnection = ending('subscriptions.end-of-connection', ofAccess(' AND creator_id = $4'));

/**
 * Subscriptions end with the access they were made by: nobody has a token any more that could delete them. Owners are not notified by a message:
 * it is they or the operator who ended the access, and what the app holds is rejected. A transaction ends at most 1000 subscriptions, so that no lock
 * lasts long: the first ones with the message, the others by a loop. Nothing is sent for any of them meanwhile (delivery/lease.ts).
 */
@Injectable()
export class EndAccess {
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly moves: MoveDeliveries,
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'webhook-end-access',
      intervalMs: pollIntervalMs,
      logger,
      round: () => this.round(),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Repeated, or late, it ends nothing that was made by access given since. */
  async run(tx: Transaction, message: Message): Promise<void> {
    const access = endedBy(message);
    if (access === undefined) return;
    await noteEndedAccess(tx, access);
    await this.endBatch(tx, access);
  }

  /** Ends the next batch of any access that has ended. Returns whether there may be more. */
  private round(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const access = await takeUnfinished(tx);
      if (access === undefined) return false;
      await this.endBatch(tx, access);
      return true;
    });
  }

  private async endBatch(tx: Transaction, access: EndedAccess): Promise<void> {
    const { clientId, creatorId, endedAt } = access;
    const ended =
      creatorId == null
        ? await endSubscriptions(tx, endOfClient, 'client_deleted', clientId, endedAt)
        : await endSubscriptions(tx, endOfConnection, 'client_disconnected', clientId, endedAt, creatorId);
    if (ended.length < batchSize) await finishEndedAccess(tx, access);
    else tx.afterCommit(() => this.loop.wake());
    if (ended.length === 0) return;
    this.moves.wakeAfter(tx);
    tx.afterCommit(() => this.log(access, ended));
  }

  private log({ clientId, creatorId }: EndedAccess, ended: readonly string[]): void {
    this.logger.info(
      {
        reason: creatorId == null ? 'client_deleted' : 'client_disconnected',
        client_id: clientId,
        creator_id: creatorId ?? undefined,
        subscriptions: ended.length,
        subscription_ids: ended.slice(0, loggedIds).map((id) => publicId('whk', id)),
      },
      'Webhook subscriptions ended with the access they were made by.',
    );
  }
}

function endedBy(message: Message): EndedAccess | undefined {
  const endedAt = message.occurred_at;
  if (messages.clientDeleted.is(message)) {
    return { clientId: message.data.client_id, creatorId: undefined, endedAt };
  }
  if (messages.clientDisconnected.is(message)) {
    const { client_id: clientId, creator_id: creatorId } = message.data;
    return { clientId, creatorId, endedAt };
  }
  return undefined;
}
