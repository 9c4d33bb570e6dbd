import { publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { Conflict, ValidationFailed } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { MoveDeliveries } from '../moves/move-deliveries.js';
import type { RecoverDeliveriesDto } from './delivery.dto.js';
import type { Recoverable } from './history.rules.js';
import type { Recovery } from './delivery.shapes.js';
import { lockOwned } from './owned-subscription.js';

// What an earlier recovery will still set going is not counted again. The subscription is locked, so no delivery of it fails meanwhile.
const counted = (status: Recoverable, means: string): string =>
  `(SELECT count(*) FROM webhook_deliveries d
    WHERE '${status}' = ANY($4::text[]) AND d.subscription_id = $1 AND d.status = '${status}' AND NOT d.test
      AND d.created_at BETWEEN $2 AND coalesce($3::timestamptz, now())
      AND NOT EXISTS (SELECT FROM webhook_recoveries r WHERE r.subscription_id = $1 AND '${status}' = ANY(r.statuses)
        AND d.created_at BETWEEN r.since AND r.until AND ${means}))`;
const count = statement(
  'history.count-recoverable',
  `SELECT ${counted('failed', 'd.completed_at <= r.created_at')} + ${counted('held', 'true')} AS matched`,
);
const begin = statement(
  'history.begin-recovery',
  `INSERT INTO webhook_recoveries (id, subscription_id, since, until, statuses, created_at)
   VALUES ($5, $1, $2, coalesce($3::timestamptz, now()), $4, clock_timestamp())`,
);

@Injectable()
export class RecoverDeliveries {
  constructor(
    private readonly database: Database,
    private readonly moves: MoveDeliveries,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Sends again what failed or was held in a span of time, as fast as the receiver takes it. A second call matches only what failed since,
   * so repeating one is harmless. While the subscription is disabled again, what is left waits.
   *
   * @throws NotFound
   * @throws ValidationFailed when the span ends before it begins
   * @throws Conflict while the subscription is disabled
   */
  async run(caller: Caller, webhookId: string, wish: RecoverDeliveriesDto): Promise<Recovery> {
    const { since, until, statuses } = wish;
    if (until !== undefined && Date.parse(until) < Date.parse(since)) {
      throw new ValidationFailed([{ field: 'until', reason: 'must not be before since' }]);
    }
    return this.database.transaction(async (tx) => {
      const subscription = await lockOwned(tx, caller, webhookId);
      if (subscription.status === 'disabled') {
        throw new Conflict('This webhook subscription is disabled. Enable it first.');
      }
      const [id, span] = [uuidv7(), [subscription.id, since, until, statuses]];
      const { matched } = (await tx.row<{ matched: number }>(count, span)) ?? { matched: 0 };
      if (matched > 0) await tx.run(begin, [...span, id]);
      this.moves.wakeAfter(tx);
      const recovery = { id: publicId('whr', id), matched };
      tx.afterCommit(() => this.log(recovery, subscription.id, wish));
      return recovery;
    });
  }

  /** So that support finds a recovery by the id in its answer. */
  private log({ id, matched }: Recovery, subscriptionId: string, wish: RecoverDeliveriesDto): void {
    const { since, until = null, statuses } = wish;
    this.logger.info(
      { recovery_id: id, subscription_id: publicId('whk', subscriptionId), since, until, statuses, matched },
      'A recovery of webhook deliveries was asked for.',
    );
  }
}
