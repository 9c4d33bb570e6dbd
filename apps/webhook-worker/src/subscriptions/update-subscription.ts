import { Database, statement, type Transaction } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { toUri } from '@fulfilment/guarded-fetch';
import { Injectable } from '@nestjs/common';
import { BulkUpdateRequests } from './bulk-update-requests.js';
import { changeKeyPair, type KeyState } from './keys/change-key-pair.js';
import { openIfReadable } from './keys/open-if-readable.js';
import { CheckSubscription } from './check-subscription.js';
import { ownedId } from './owner.js';
import { SecretBox } from '@fulfilment/runtime';
import type { UpdateSubscriptionDto } from './subscription.dto.js';
import { distinctEvents, type SubscriptionStatus } from './subscription.rules.js';
import type { SubscriptionView } from './subscription.shapes.js';
import { readBacklog } from './read-backlog.js';
import { subscriptionColumns, type SubscriptionRow, subscriptionView } from './subscription.view.js';

const exists = statement(
  'subscriptions.exists',
  `SELECT 1 FROM webhook_subscriptions WHERE id = $1 AND creator_id = $2 AND client_id = $3 AND deleted_at IS NULL`,
);
const lock = statement(
  'subscriptions.lock',
  `SELECT id, status, secret, signing_key AS "signingKey",
     coalesce(previous_signing_key_until > now(), false) AS "isRotating"
   FROM webhook_subscriptions
   WHERE id = $1 AND creator_id = $2 AND client_id = $3 AND deleted_at IS NULL FOR UPDATE`,
);
// A parameter that is null changes nothing. For 24 hours deliveries are also signed with the previous secret,
// so that a receiver can rotate its secret without losing a delivery. A new URL is a new receiver, so the
// lane, latency and failures of the old one are reset.
const change = statement(
  'subscriptions.change',
  `UPDATE webhook_subscriptions SET
     url = coalesce(:url, url),
     lane = CASE WHEN :url <> url THEN 'fast' ELSE lane END,
     latency_ms = CASE WHEN :url <> url THEN 0 ELSE latency_ms END,
     consecutive_failures = CASE WHEN :url <> url THEN 0 ELSE consecutive_failures END,
     failing_since = CASE WHEN :url <> url THEN NULL ELSE failing_since END,
     failure_notified = CASE WHEN :url <> url THEN false ELSE failure_notified END,
     disabling_notified = CASE WHEN :url <> url THEN false ELSE disabling_notified END,
     events = coalesce(:events, events),
     max_in_flight = coalesce(:max_in_flight, max_in_flight),
     previous_secret = CASE WHEN :secret::bytea IS NULL THEN previous_secret ELSE :previous_secret END,
     previous_secret_until = CASE WHEN :secret::bytea IS NULL THEN previous_secret_until ELSE now() + interval '24 hours' END,
     secret = coalesce(:secret, secret)
   WHERE id = :id RETURNING ${subscriptionColumns}`,
);
const enable = statement(
  'subscriptions.enable',
  `UPDATE webhook_subscriptions SET status = 'active', consecutive_failures = 0, failing_since = NULL,
     disabled_at = NULL, disabled_reason = NULL, lane = 'fast', latency_ms = 0, failure_notified = false, disabling_notified = false
   WHERE id = $1`,
);
const disable = statement(
  'subscriptions.disable',
  `UPDATE webhook_subscriptions SET status = 'disabled', disabled_at = now(), disabled_reason = 'owner' WHERE id = $1`,
);

interface LockedRow extends KeyState {
  readonly status: string;
  readonly secret: Buffer;
}

@Injectable()
export class UpdateSubscription {
  constructor(
    private readonly database: Database,
    private readonly checkSubscription: CheckSubscription,
    private readonly secrets: SecretBox,
    private readonly bulkUpdates: BulkUpdateRequests,
  ) {}

  /**
   * Changes the given members. `status: active` re-enables a disabled subscription and releases its held
   * deliveries; `status: disabled` holds its open deliveries.
   *
   * @throws ValidationFailed on an unknown event, a URL that is not allowed, or a new key without `v1a`
   * @throws NotFound
   * @throws RateLimited after too many URLs of the owner with a private host name
   */
  async run(caller: Caller, webhookId: string, input: UpdateSubscriptionDto): Promise<SubscriptionView> {
    this.checkSubscription.checkSyntax(input);
    const { id, creatorId, clientId } = ownedId(caller, webhookId);
    if (input.url !== undefined) {
      if ((await this.database.row(exists, [id, creatorId, clientId])) === undefined)
        throwNotFound('webhook subscription');
      await this.checkSubscription.checkHostName({ creatorId, clientId }, input.url);
    }
    const row = await this.database.transaction(async (tx) => {
      const found = await tx.row<LockedRow>(lock, [id, creatorId, clientId]);
      const { status, secret, ...keyState } = found ?? throwNotFound('webhook subscription');
      if (input.status !== undefined && input.status !== status)
        await this.changeStatus(tx, id, input.status);
      await changeKeyPair(tx, this.secrets, keyState, input);
      const current = openIfReadable(this.secrets, secret, id);
      return tx.row<SubscriptionRow>(change, {
        id,
        url: input.url === undefined ? undefined : toUri(input.url),
        events: input.events === undefined ? undefined : distinctEvents(input.events),
        secret: this.newSecret(input.secret, current, id),
        // A secret that cannot be opened cannot sign, so it does not become the previous one.
        previous_secret: current === undefined ? undefined : secret,
        max_in_flight: input.max_in_flight,
      });
    });
    return subscriptionView(
      row ?? throwNotFound('webhook subscription'),
      await readBacklog(this.database, id),
    );
  }

  /**
   * Returns the secret to store; undefined if it does not change. A repetition of the current secret, such as
   * after a lost response, is not a rotation: the previous secret stays valid.
   */
  private newSecret(secret: string | undefined, current: Buffer | undefined, id: string): Buffer | undefined {
    if (secret === undefined || current?.equals(Buffer.from(secret)) === true) return undefined;
    return this.secrets.seal(secret, id);
  }

  private async changeStatus(tx: Transaction, id: string, status: SubscriptionStatus): Promise<void> {
    await tx.run(status === 'disabled' ? disable : enable, [id]);
    await this.bulkUpdates.requestStateSync(tx, [id]);
  }
}
