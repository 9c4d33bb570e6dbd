import { Database, listTimeoutMs, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { ownedId, ownerOf } from './owner.js';
import type { ListSubscriptionsDto } from './subscription.dto.js';
import { maxSubscriptions } from './subscription.rules.js';
import type { SubscriptionView } from './subscription.shapes.js';
import { readBacklog } from './read-backlog.js';
import { subscriptionColumns, type SubscriptionRow, subscriptionView } from './subscription.view.js';

const list = statement(
  'subscriptions.list',
  `SELECT ${subscriptionColumns} FROM webhook_subscriptions
   WHERE creator_id = $1 AND client_id = $2 AND deleted_at IS NULL AND ($3 = 'all' OR status = $3)
   ORDER BY created_at DESC, id DESC LIMIT ${maxSubscriptions}`,
);
const find = statement(
  'subscriptions.find',
  `SELECT ${subscriptionColumns} FROM webhook_subscriptions
   WHERE id = $1 AND creator_id = $2 AND client_id = $3 AND deleted_at IS NULL`,
);

@Injectable()
export class ReadSubscriptions {
  constructor(private readonly database: Database) {}

  /** Returns the caller's subscriptions, newest first. Returns none if the token has no creator. */
  async list(caller: Caller, { status }: ListSubscriptionsDto): Promise<{ data: SubscriptionView[] }> {
    const owner = ownerOf(caller);
    if (owner === undefined) return { data: [] };
    const rows = await this.database.rowsWithTimeout<SubscriptionRow>(listTimeoutMs, list, [
      owner.creatorId,
      owner.clientId,
      status,
    ]);
    return { data: rows.map((row) => subscriptionView(row)) };
  }

  /** @throws NotFound */
  async findOne(caller: Caller, webhookId: string): Promise<SubscriptionView> {
    const { id, creatorId, clientId } = ownedId(caller, webhookId);
    const row = await this.database.row<SubscriptionRow>(find, [id, creatorId, clientId]);
    return subscriptionView(
      row ?? throwNotFound('webhook subscription'),
      await readBacklog(this.database, id),
    );
  }
}
