import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { deliveryMetrics } from '../delivery/delivery-metrics.js';
import { createDayPartitions } from './day-partitions.js';
import { NotifyOwners } from '../delivery/health/notify-owners.js';

const intervalMs = 60_000;

const countHeld = statement(
  'deliveries.count-held',
  "SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'held'",
);

/**
 * Runs every minute: creates the day partitions ahead, warns owners of subscriptions that will be disabled,
 * and counts held deliveries for the metric. All replicas run it, and skip partitions and warnings that
 * exist already.
 */
@Injectable()
export class MaintenanceJob extends BackgroundLoop {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly owners: NotifyOwners,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({ name: 'webhook-maintenance', intervalMs, logger, round: () => this.round() });
  }

  async round(): Promise<boolean> {
    await createDayPartitions(this.database, this.logger);
    const moreOwners = await this.owners.warnBeforeDisabling();
    await this.countHeld();
    return moreOwners;
  }

  /** A failure is only logged: nothing but the metric depends on the count. */
  private async countHeld(): Promise<void> {
    try {
      const held = await this.database.row<{ count: number }>(countHeld);
      deliveryMetrics.held.set(held?.count ?? 0);
    } catch (error) {
      this.logger.warn(
        { error },
        'Held deliveries could not be counted for the metric; will retry in a minute.',
      );
    }
  }
}
