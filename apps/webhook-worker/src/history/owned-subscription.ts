import { parsePublicId } from '@fulfilment/contracts';
import { type Sql, statement, type Transaction } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import type { Lane } from '../dispatch-queue/lanes.rules.js';
import { ownedId } from '../subscriptions/owner.js';
import type { ApiVersion, SubscriptionStatus } from '../subscriptions/subscription.rules.js';

export interface OwnedSubscription {
  readonly id: string;
  readonly status: SubscriptionStatus;
  readonly events: string[];
  /** Version of its payloads, fixed at creation. */
  readonly api_version: ApiVersion;
  readonly lane: Lane;
}

const columns = 'id, status, events, api_version, lane';
const owned = `FROM webhook_subscriptions WHERE id = $1 AND creator_id = $2 AND client_id = $3 AND deleted_at IS NULL`;
const find = statement('history.find-subscription', `SELECT ${columns} ${owned}`);
const lock = statement('history.lock-subscription', `SELECT ${columns} ${owned} FOR NO KEY UPDATE`);

/** @throws NotFound */
export async function findOwned(sql: Sql, caller: Caller, webhookId: string): Promise<OwnedSubscription> {
  const { id, creatorId, clientId } = ownedId(caller, webhookId);
  const row = await sql.row<OwnedSubscription>(find, [id, creatorId, clientId]);
  return row ?? throwNotFound('webhook subscription');
}

/** Like `findOwned`, and locks the subscription: concurrent calls for it wait. @throws NotFound */
export async function lockOwned(
  tx: Transaction,
  caller: Caller,
  webhookId: string,
): Promise<OwnedSubscription> {
  const { id, creatorId, clientId } = ownedId(caller, webhookId);
  const row = await tx.row<OwnedSubscription>(lock, [id, creatorId, clientId]);
  return row ?? throwNotFound('webhook subscription');
}

/** @throws NotFound */
export function deliveryUuid(deliveryId: string): string {
  return parsePublicId('whd', deliveryId) ?? throwNotFound('webhook delivery');
}
