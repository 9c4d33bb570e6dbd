import { publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, type Transaction } from '@fulfilment/database';
import { Conflict, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { BulkUpdateRequests } from '../subscriptions/bulk-update-requests.js';
import type { RecoverDeliveriesDto } from './delivery.dto.js';
import { maxCountedDeliveries, type RecoverableStatus } from './history.rules.js';
import type { Recovery } from './delivery.shapes.js';
import { findOwned, lockOwned } from './owned-subscription.js';
import { checkQuota, recordManualSend } from './manual-sends.js';

// Serialises the counts of one subscription, so that no two recoveries count the same delivery. Does not lock
// the subscription.
const serialise = statement(
  'history.serialise-recoveries',
  'SELECT pg_advisory_xact_lock(hashtextextended($1::text, 52))',
);
// Excludes deliveries that an earlier recovery has yet to send. Deliveries beyond the limit are not counted.
const counted = (status: RecoverableStatus, condition: string, coveredBy: string): string =>
  `SELECT EXISTS (SELECT FROM webhook_recoveries r WHERE r.subscription_id = $1 AND '${status}' = ANY(r.statuses)
     AND d.created_at BETWEEN r.since AND r.until AND ${coveredBy}) AS covered
   FROM (SELECT created_at, completed_at FROM webhook_deliveries
         WHERE '${status}' = ANY($4::text[]) AND subscription_id = $1 AND status = '${status}' AND ${condition}
           AND created_at BETWEEN $2 AND coalesce($3::timestamptz, now())
         ORDER BY created_at DESC LIMIT ${maxCountedDeliveries}) AS d`;
const count = statement(
  'history.count-recoverable',
  `SELECT count(*) FILTER (WHERE NOT covered) AS matched, count(*) >= ${maxCountedDeliveries} AS "mayBeMore", statement_timestamp()::text AS "countedAt"
   FROM (${counted('failed', 'NOT test AND completed_at <= statement_timestamp()', 'd.completed_at <= r.created_at')}
         UNION ALL ${counted('held', 'true', 'true')}) AS counts`,
);
const begin = statement(
  'history.begin-recovery',
  `INSERT INTO webhook_recoveries (id, subscription_id, since, until, statuses, created_at)
   VALUES ($5, $1, $2, coalesce($3::timestamptz, now()), $4, $6)`,
);

interface Counted {
  readonly matched: number;
  /** Whether the limit was reached, so that not all deliveries were counted. */
  readonly mayBeMore: boolean;
  /** In PostgreSQL's text form, since a `Date` has no microseconds. */
  readonly countedAt: string;
}

@Injectable()
export class RecoverDeliveries {
  constructor(
    private readonly database: Database,
    private readonly bulkUpdates: BulkUpdateRequests,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Retries failed or held deliveries of a time span, as fast as the receiver takes them. A repeated call
   * matches only deliveries that failed since, so repeating it is harmless. While the subscription is
   * disabled, the rest waits.
   *
   * @throws NotFound
   * @throws ValidationFailed when the span ends before it begins
   * @throws Conflict while the subscription is disabled
   * @throws RateLimited after six in a minute
   */
  async run(caller: Caller, webhookId: string, input: RecoverDeliveriesDto): Promise<Recovery> {
    const { since, until } = input;
    if (until !== undefined && Date.parse(until) < Date.parse(since)) {
      throw new ValidationFailed([{ field: 'until', reason: 'must not be before since' }]);
    }
    const subscriptionId = await this.admit(caller, webhookId);
    const recovery = await this.database.transaction((tx) => this.begin(tx, subscriptionId, input));
    this.log(recovery, subscriptionId, input);
    return recovery;
  }

  /** Locks the subscription for a moment only. Returns its id. */
  private async admit(caller: Caller, webhookId: string): Promise<string> {
    const { id } = await findOwned(this.database, caller, webhookId);
    await checkQuota(this.database, id, 'recover');
    return this.database.transaction(async (tx) => {
      const subscription = await lockOwned(tx, caller, webhookId);
      if (subscription.status === 'disabled') {
        throw new Conflict('This webhook subscription is disabled. Enable it first.');
      }
      await recordManualSend(tx, subscription.id, 'recover');
      return subscription.id;
    });
  }

  private async begin(
    tx: Transaction,
    subscriptionId: string,
    input: RecoverDeliveriesDto,
  ): Promise<Recovery> {
    await tx.rows(serialise, [subscriptionId]);
    const id = uuidv7();
    const span = [subscriptionId, input.since, input.until, input.statuses];
    const counts = await tx.row<Counted>(count, span);
    if (counts === undefined) throw new Error('PostgreSQL returned no count.');
    const { matched, mayBeMore, countedAt } = counts;
    if (matched > 0 || mayBeMore) await tx.run(begin, [...span, id, countedAt]);
    this.bulkUpdates.startAfterCommit(tx);
    return { id: publicId('whr', id), matched };
  }

  /** Lets support find a recovery by the id in the response. */
  private log({ id, matched }: Recovery, subscriptionId: string, input: RecoverDeliveriesDto): void {
    const { since, until = null, statuses } = input;
    this.logger.info(
      { recovery_id: id, subscription_id: publicId('whk', subscriptionId), since, until, statuses, matched },
      'A recovery of webhook deliveries was started.',
    );
  }
}
