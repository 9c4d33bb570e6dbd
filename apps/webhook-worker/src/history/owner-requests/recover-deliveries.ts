import { publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, ValidationFailed } from '@fulfilment/error-envelope';
import { type Caller, createOnce, findCreated, ResponseWithHeaders } from '@fulfilment/http-service';
import { CLOCK, type Clock, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { lockSeeds } from '../../advisory-locks.js';
import { BulkUpdateRequests } from '../../subscriptions/bulk-update-requests.js';
import type { RecoverDeliveriesDto } from '../delivery.dto.js';
import { maxCountedDeliveries, type RecoverableStatus } from '../history.rules.js';
import type { Recovery } from '../delivery.shapes.js';
import { keyedRequest } from './keyed-request.js';
import { lockOwned } from '../owned-subscription.js';
import { consumeOwnerRequestQuota } from './owner-request-quota.js';

// Serialises the counts of one subscription, so that no two recoveries count the same delivery. Does not lock
// the subscription.
const serialise = statement(
  'history.serialise-recoveries',
  `SELECT pg_advisory_xact_lock(hashtextextended($1::text, ${lockSeeds.recoveries}))`,
);
/**
 * SQL: failed or held deliveries of the span, at most the newest `maxCountedDeliveries`, each with
 * `in_recovery`: whether an earlier recovery will still send it.
 * @param condition SQL about columns of the delivery; none by default
 * @param recoveryCondition SQL about the delivery `d` and the recovery `r`; none by default
 */
const matchingDeliveries = (
  status: RecoverableStatus,
  { condition = 'true', recoveryCondition = 'true' } = {},
): string =>
  `SELECT EXISTS (SELECT FROM webhook_recoveries r WHERE r.subscription_id = :subscription_id AND '${status}' = ANY(r.statuses)
     AND d.created_at BETWEEN r.since AND r.until AND ${recoveryCondition}) AS in_recovery
   FROM (SELECT created_at, completed_at FROM webhook_deliveries
         WHERE '${status}' = ANY(:statuses::text[]) AND subscription_id = :subscription_id AND status = '${status}' AND ${condition}
           AND created_at BETWEEN :since AND coalesce(:until::timestamptz, now())
         ORDER BY created_at DESC LIMIT ${maxCountedDeliveries}) AS d`;
// A recovery sends the deliveries that had failed by its `created_at`. That is `countedAt`, so this counts
// the same deliveries.
const countMatching = statement(
  'history.count-recoverable',
  `SELECT count(*) FILTER (WHERE NOT in_recovery) AS matched, count(*) >= ${maxCountedDeliveries} AS "mayBeMore",
     statement_timestamp()::text AS "countedAt"
   FROM (${matchingDeliveries('failed', {
     condition: 'NOT test AND completed_at <= statement_timestamp()',
     recoveryCondition: 'd.completed_at <= r.created_at',
   })} UNION ALL ${matchingDeliveries('held')}) AS matching`,
);
const insertRecovery = statement(
  'history.begin-recovery',
  `INSERT INTO webhook_recoveries (id, subscription_id, since, until, statuses, created_at)
   VALUES (:id, :subscription_id, :since, coalesce(:until::timestamptz, now()), :statuses, :counted_at)`,
);

interface MatchCount {
  readonly matched: number;
  /** Whether the limit was reached, so that not all deliveries were counted. */
  readonly mayBeMore: boolean;
  /** Time in PostgreSQL's text form, since a `Date` has no microseconds. */
  readonly countedAt: string;
}

@Injectable()
export class RecoverDeliveries {
  constructor(
    private readonly database: Database,
    private readonly bulkUpdates: BulkUpdateRequests,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Retries failed or held deliveries of a time span, as fast as the receiver takes them. A repeated call
   * matches only deliveries that failed or were held since, so it is harmless. If the subscription is
   * disabled before the recovery has ended, the remaining deliveries wait.
   *
   * @throws NotFound
   * @throws ValidationFailed when the span ends before it begins
   * @throws Conflict while the subscription is disabled, or when the key was used with another body
   * @throws RateLimited after six in a minute
   */
  async run(
    caller: Caller,
    webhookId: string,
    input: RecoverDeliveriesDto,
    key?: string,
  ): Promise<ResponseWithHeaders<Recovery>> {
    const { since, until } = input;
    if (until !== undefined && Date.parse(until) < Date.parse(since)) {
      throw new ValidationFailed([{ field: 'until', reason: 'must not be before `since`' }]);
    }
    const request = keyedRequest(caller, webhookId, key, { recover: input }, this.clock());
    const known = request === undefined ? undefined : await findCreated<Recovery>(this.database, request);
    if (known !== undefined) return new ResponseWithHeaders(known.response, known.headers);
    const subscriptionId = await this.checkAndConsumeQuota(caller, webhookId);
    const { response, headers } = await this.database.transaction((tx) =>
      createOnce(tx, request, () => this.start(tx, subscriptionId, input)),
    );
    if (!('Idempotent-Replayed' in headers)) this.log(response, subscriptionId, input);
    return new ResponseWithHeaders(response, headers);
  }

  /**
   * Checks owner, quota and status, and counts this call for the quota, in a transaction of its own. Returns
   * the id of the subscription.
   */
  private checkAndConsumeQuota(caller: Caller, webhookId: string): Promise<string> {
    return this.database.transaction(async (tx) => {
      const subscription = await lockOwned(tx, caller, webhookId);
      if (subscription.status === 'disabled') {
        throw new Conflict('This webhook subscription is disabled. Enable it first.');
      }
      await consumeOwnerRequestQuota(tx, subscription.id, 'recover');
      return subscription.id;
    });
  }

  private async start(
    tx: Transaction,
    subscriptionId: string,
    input: RecoverDeliveriesDto,
  ): Promise<Recovery> {
    await tx.rows(serialise, [subscriptionId]);
    const id = uuidv7();
    const { since, until, statuses } = input;
    const selection = { subscription_id: subscriptionId, since, until, statuses };
    const counts = await tx.row<MatchCount>(countMatching, selection);
    if (counts === undefined) throw new Error('PostgreSQL returned no count.');
    const { matched, mayBeMore, countedAt } = counts;
    if (matched > 0 || mayBeMore) await tx.run(insertRecovery, { ...selection, id, counted_at: countedAt });
    this.bulkUpdates.startAfterCommit(tx);
    return { id: publicId('whr', id), matched };
  }

  /** Logs the recovery, so that support can find it by the id in the response. */
  private log({ id, matched }: Recovery, subscriptionId: string, input: RecoverDeliveriesDto): void {
    const { since, until = null, statuses } = input;
    this.logger.info(
      { recovery_id: id, subscription_id: publicId('whk', subscriptionId), since, until, statuses, matched },
      'A recovery of webhook deliveries was started.',
    );
  }
}
