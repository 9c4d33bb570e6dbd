import { toUri } from '@fulfilment/guarded-fetch';
import { uuidv7 } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, Forbidden } from '@fulfilment/error-envelope';
import {
  ResponseWithHeaders,
  type Caller,
  type CreatedOnce,
  createOnce,
  findCreated,
  type KeyedRequest,
  keyedFingerprint,
} from '@fulfilment/http-service';
import { CLOCK, type Clock, SecretBox } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { lockSeeds } from '../advisory-locks.js';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { CheckSubscription } from './check-subscription.js';
import { lockAndCheckRevoked } from './revocation/access-revocations.js';
import { newPrivateKey } from './keys/key-pairs.js';
import { type Owner, ownerOf } from './owner.js';
import type { CreateSubscriptionDto } from './subscription.dto.js';
import {
  currentApiVersion,
  distinctEvents,
  maxInFlightLimit,
  maxSubscriptions,
  maxSubscriptionsOfCreator,
} from './subscription.rules.js';
import type { SubscriptionView } from './subscription.shapes.js';
import {
  noBacklog,
  subscriptionColumns,
  type SubscriptionRow,
  subscriptionView,
} from './subscription.view.js';

// Serialises creations for one creator, so that concurrent requests cannot exceed the limits.
const serialiseCreation = statement(
  'subscriptions.serialise-creation',
  `SELECT pg_advisory_xact_lock(hashtextextended($1::text, ${lockSeeds.subscriptionLimit}))`,
);
const count = statement(
  'subscriptions.count',
  `SELECT count(*) AS "ofCreator", count(*) FILTER (WHERE client_id = $2) AS "ofClient"
   FROM webhook_subscriptions WHERE creator_id = $1 AND deleted_at IS NULL`,
);
const insert = statement(
  'subscriptions.insert',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, authorized_at,
     max_in_flight, signing_key)
   VALUES (:id, :creator_id, :client_id, :url, :events, :secret, :api_version, 'active', :authorized_at,
     :max_in_flight, :signing_key)
   RETURNING ${subscriptionColumns}`,
);

@Injectable()
export class CreateSubscription {
  constructor(
    private readonly database: Database,
    private readonly checkSubscription: CheckSubscription,
    private readonly secrets: SecretBox,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Creates a subscription. Checks access and limit twice: before it resolves the host name, since the
   * response reveals whether that is private, and in the transaction of the insertion.
   * @param key idempotency key; with it, a repeated request creates no second subscription
   * @throws Forbidden when the access is not connected to a creator, or is revoked
   * @throws ValidationFailed on an unknown event or a URL that is not allowed
   * @throws Conflict when the owner already has 50 subscriptions, or the creator 1000 of all clients, or when
   *   the key was used with another body
   * @throws RateLimited after too many URLs of the owner with a private host name
   */
  async run(
    caller: Caller,
    input: CreateSubscriptionDto,
    key?: string,
  ): Promise<ResponseWithHeaders<SubscriptionView>> {
    const owner = ownerOf(caller);
    if (owner === undefined) {
      throw new Forbidden(
        'The access token is not connected to a creator, so there are no events to subscribe to.',
      );
    }
    this.checkSubscription.checkSyntax(input);
    const request = key === undefined ? undefined : this.keyedRequest(owner, key, input);
    const known = await this.database.transaction(async (tx) => {
      await requireAccess(tx, owner, caller.tokenIssuedAt);
      const created = request === undefined ? undefined : await findCreated<SubscriptionView>(tx, request);
      if (created === undefined) await requireBelowLimits(tx, owner);
      return created;
    });
    if (known === undefined) await this.checkSubscription.checkHostName(owner, input.url);
    const { response, headers } = known ?? (await this.create(owner, caller.tokenIssuedAt, input, request));
    const location = `${this.config.BASE_URL}/store/v1/webhooks/${response.id}`;
    return new ResponseWithHeaders(response, { Location: location, ...headers });
  }

  private keyedRequest(
    { creatorId, clientId }: Owner,
    key: string,
    input: CreateSubscriptionDto,
  ): KeyedRequest {
    const fingerprints = this.secrets.keys.map((secret) => keyedFingerprint(input, secret));
    return { scope: { creatorId, clientId, key }, fingerprints, receivedAt: this.clock() };
  }

  private create(
    owner: Owner,
    authorizedAt: Date,
    input: CreateSubscriptionDto,
    request: KeyedRequest | undefined,
  ): Promise<CreatedOnce<SubscriptionView>> {
    return this.database.transaction(async (tx) => {
      await requireAccess(tx, owner, authorizedAt);
      return createOnce(tx, request, async () =>
        subscriptionView(await this.insert(tx, owner, authorizedAt, input), noBacklog),
      );
    });
  }

  private async insert(
    tx: Transaction,
    owner: Owner,
    authorizedAt: Date,
    input: CreateSubscriptionDto,
  ): Promise<SubscriptionRow> {
    const { creatorId, clientId } = owner;
    await tx.run(serialiseCreation, [creatorId]);
    await requireBelowLimits(tx, owner);
    const id = uuidv7();
    const row = await tx.row<SubscriptionRow>(insert, {
      id,
      creator_id: creatorId,
      client_id: clientId,
      url: toUri(input.url),
      events: distinctEvents(input.events),
      secret: this.secrets.seal(input.secret, id),
      api_version: currentApiVersion,
      authorized_at: authorizedAt,
      max_in_flight: input.max_in_flight ?? maxInFlightLimit,
      signing_key: input.signature === 'v1a' ? this.secrets.seal(newPrivateKey(), id) : null,
    });
    if (row === undefined) throw new Error('The inserted subscription was not returned.');
    return row;
  }
}

/** @throws Forbidden */
async function requireAccess(
  tx: Transaction,
  { creatorId, clientId }: Owner,
  authorizedAt: Date,
): Promise<void> {
  if (await lockAndCheckRevoked(tx, clientId, creatorId, authorizedAt))
    throw new Forbidden('The access token is no longer connected to the creator.');
}

/** @throws Conflict */
async function requireBelowLimits(tx: Transaction, { creatorId, clientId }: Owner): Promise<void> {
  const existing = await tx.row<{ ofCreator: number; ofClient: number }>(count, [creatorId, clientId]);
  if (existing === undefined) throw new Error('PostgreSQL returned no count.');
  if (existing.ofClient >= maxSubscriptions)
    throw new Conflict(`There are already ${maxSubscriptions} webhook subscriptions. Delete one first.`);
  if (existing.ofCreator >= maxSubscriptionsOfCreator)
    throw new Conflict(
      `The apps of the creator already have ${maxSubscriptionsOfCreator} webhook subscriptions.`,
    );
}
