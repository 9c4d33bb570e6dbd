import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import { BackgroundLoop, CLOCK, type Clock, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { deliveryMetrics } from './delivery/delivery-metrics.js';
import { createDayPartitions, deleteExpiredDays } from './history/day-partitions.js';
import { deleteExpiredRevocations } from './subscriptions/access-revocations.js';
import { NotifyOwners } from './subscriptions/notify-owners.js';

const intervalMs = 60_000;

const countHeld = statement(
  'deliveries.count-held',
  "SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'held'",
);

/**
 * Runs every minute: creates the day partitions ahead, deletes expired days, access revocations and
 * idempotency keys, warns owners of subscriptions that will be disabled, and counts held deliveries for the
 * metric. All replicas run it; what one has done, the others skip.
 */
@Injectable()
export class MaintenanceJob {
  private readonly loop: BackgroundLoop;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly owners: NotifyOwners,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.loop = new BackgroundLoop({
      name: 'webhook-maintenance',
      intervalMs,
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

  async round(): Promise<boolean> {
    await createDayPartitions(this.database, this.logger);
    await deleteExpiredDays(this.database, this.logger);
    await deleteExpiredRevocations(this.database);
    const moreKeys = await deleteExpiredIdempotencyKeys(this.database, this.clock());
    const moreOwners = await this.owners.warnBeforeDisabling();
    await this.countHeld();
    return moreKeys || moreOwners;
  }

  /** For the metric only: a failure does not affect the other tasks. */
  private async countHeld(): Promise<void> {
    try {
      const held = await this.database.row<{ count: number }>(countHeld);
      deliveryMetrics.held.set(held?.count ?? 0);
    } catch (error) {
      this.logger.warn({ error }, 'Held deliveries could not be counted.');
    }
  }
}
