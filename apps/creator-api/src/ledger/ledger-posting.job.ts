import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, BackgroundTask, Gauge, LOGGER, type Logger } from '@fulfilment/runtime';
import { Shards } from '@fulfilment/service-host/shards';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { WaitingOrderPoster } from './post-waiting-orders.js';
import { closeMonths } from './close-months.js';

const pollIntervalMs = 2_000;

const waiting = new Gauge({
  name: 'bookings_waiting',
  help: 'Paid orders that cannot be posted to the ledger yet because their creator or an exchange rate is missing, counted up to 10000.',
});
const oldest = new Gauge({
  name: 'bookings_waiting_oldest_seconds',
  help: 'Time since the oldest order of bookings_waiting started to wait.',
});

const measureWaiting = statement(
  'postings.measure',
  `SELECT (SELECT count(*) FROM (SELECT FROM waiting_postings LIMIT 10000) w) AS orders,
     COALESCE(extract(epoch FROM now() - (SELECT min(since) FROM waiting_postings)), 0)::float8 AS seconds`,
);

/**
 * Closes months and posts waiting orders once their creator and rate are known. Any number of replicas may
 * run it; each polls for the creators of its shards.
 */
@Injectable()
export class LedgerPosting extends BackgroundTask {
  private readonly waitingOrderPoster: WaitingOrderPoster;
  private readonly loop: BackgroundLoop;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<CreatorApiSettings, 'STATISTICS_CLOSE_DAY'>,
    @Inject(Shards) shards: Pick<Shards, 'owned'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
    this.waitingOrderPoster = new WaitingOrderPoster(database, () => shards.owned);
    this.loop = new BackgroundLoop({
      name: 'waiting-postings',
      intervalMs: pollIntervalMs,
      logger,
      round: () => this.round(),
    });
  }

  /** Closes the due months before it returns, and so before the first message is posted. */
  async start(): Promise<void> {
    await this.closeMonths();
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Posts the waiting orders of creators whose new versions were committed. */
  scheduleCreators(ids: readonly string[]): void {
    this.waitingOrderPoster.scheduleCreators(ids);
    this.loop.wake();
  }

  /** Posts all waiting orders whose rate is known, after new exchange rates were committed. */
  scheduleAll(): void {
    this.waitingOrderPoster.scheduleAll();
    this.loop.wake();
  }

  private async closeMonths(): Promise<void> {
    const closeDay = this.config.STATISTICS_CLOSE_DAY;
    const firstOpenMonth = await closeMonths(this.database, { closeDay });
    if (firstOpenMonth !== undefined)
      this.logger.info({ first_open_month: firstOpenMonth }, 'Closed the months before first_open_month.');
  }

  private async round(): Promise<boolean> {
    await this.closeMonths();
    const hasMore = await this.waitingOrderPoster.round();
    const measured = await this.database.row<{ orders: number; seconds: number }>(measureWaiting);
    waiting.set(measured?.orders ?? 0);
    oldest.set(measured?.seconds ?? 0);
    return hasMore;
  }
}
