import { Database, statement } from '@fulfilment/database';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { deliveryMetrics } from '../delivery/delivery-metrics.js';
import { createDayPartitions, dropOldDays } from './day-partitions.js';

const everyMs = 60_000;
const mostHeld = 10_000;

// Held for seven days, and at most so many for one subscription: the oldest go first.
const expireHeld = statement(
  'deliveries.expire-held',
  `WITH ranked AS (
     SELECT day, id, created_at, row_number() OVER (PARTITION BY subscription_id ORDER BY created_at DESC) AS place
     FROM webhook_deliveries WHERE status = 'held'
   )
   UPDATE webhook_deliveries d SET status = 'failed', failure_reason = 'expired', completed_at = now()
   FROM ranked r
   WHERE d.day = r.day AND d.id = r.id AND d.status = 'held'
     AND (r.created_at < now() - interval '7 days' OR r.place > ${mostHeld})`,
);
const countHeld = statement(
  'deliveries.count-held',
  "SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'held'",
);

/** Keeps the history in its bounds: partitions ahead, old days dropped, held deliveries expired. Any replica may do it; each step is done once. */
@Injectable()
export class Upkeep {
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
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
    await this.database.run(expireHeld);
    const held = await this.database.row<{ count: number }>(countHeld);
    deliveryMetrics.held.set(held?.count ?? 0);
    return false;
  }
}
