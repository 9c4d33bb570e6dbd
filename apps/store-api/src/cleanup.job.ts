import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { measureOversold } from './catalogue/oversold-stock.js';
import { CONFIG, type StoreApiSettings } from './config.js';
import { IdempotencyKeys } from './orders/idempotency-keys.js';
import { measureOrders } from './orders/measure-orders.js';
import { redactOldAddresses } from './orders/redact-orders.js';
import { deleteExpiredQuotes } from './shipping/delete-expired-quotes.js';

const pollIntervalMs = 10_000;

/**
 * Deletes expired idempotency keys and quotes, redacts old addresses, and measures orders and oversold stock.
 * Any number of replicas may run.
 */
@Injectable()
export class CleanupJob {
  private readonly loop: BackgroundLoop;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'upkeep',
      intervalMs: pollIntervalMs,
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

  /** Deletes and redacts a batch of each. Returns whether there may be more. */
  private async round(): Promise<boolean> {
    await measureOversold(this.database);
    await measureOrders(this.database);
    const moreKeys = await this.keys.deleteExpired(this.database);
    const moreQuotes = await deleteExpiredQuotes(this.database);
    const moreAddresses = await redactOldAddresses(this.database, this.config.ADDRESS_RETENTION_DAYS);
    return moreKeys || moreQuotes || moreAddresses;
  }
}
