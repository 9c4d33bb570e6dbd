import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { forgetCreated } from '@fulfilment/http-service';
import { BackgroundLoop, CLOCK, type Clock, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { deliveryMetrics } from './delivery/delivery-metrics.js';
import { createDayPartitions, dropOldDays } from './history/day-partitions.js';
import { forgetEndedAccess } from './subscriptions/ended-access.js';
import { TellOwners } from './subscriptions/tell-owners.js';

const everyMs = 60_000;

const countHeld = statement(
  'deliveries.count-held',
  "SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'held'",
);

/**
 * What is to be done each minute: create the partitions of the days to come, drop old days, delete old rows of ended access and expired idempotency keys, warn the owners of subscriptions
 * that will be disabled, and at last count held deliveries for the metric. All replicas run it; what one has done the others find done.
 */
@Injectable()
export class Upkeep {
  private readonly loop: BackgroundLoop;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly owners: TellOwners,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.loop = new BackgroundLoop({
      name: 'webhook-upkeep',
      intervalMs: everyMs,
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
    await dropOldDays(this.database, this.logger);
    await forgetEndedAccess(this.database);
    const manyKeys = await forgetCreated(this.database, this.clock());
    const manyOwners = await this.owners.warn();
    await this.countHeld();
    return manyKeys || manyOwners;
  }

  /** For the metric alone: what goes wrong here stops nothing else. */
  private async countHeld(): Promise<void> {
    try {
      const held = await this.database.row<{ count: number }>(countHeld);
      deliveryMetrics.held.set(held?.count ?? 0);
    } catch (error) {
      this.logger.warn({ error }, 'Held deliveries could not be counted.');
    }
  }
}
