import type { OrderStatus } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { maxPackageEvents } from '../fulfilment/order-events.js';
import { HandleFulfilmentEvents } from '../fulfilment/handle-fulfilment-events.js';
import { simulatedEvent } from './simulated-events.rules.js';

const pollIntervalMs = 2_000;
const batchSize = 20;

// Orders that another transaction has locked are left to the next round. Two kinds of orders are left out,
// since an event might not change their status: those whose packages an operator has reported with items, and
// those that can store no more events.
const lockDueOrders = statement(
  'test-orders.lock-due',
  `SELECT id, status, clock_timestamp() AS now FROM orders
   WHERE test AND status IN ('processing', 'shipped') AND updated_at < now() - $1::int * interval '1 millisecond'
     AND NOT jsonb_path_exists(packages, '$[*].items') AND jsonb_array_length(package_history) < ${maxPackageEvents}
   ORDER BY updated_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED`,
);

/**
 * Ships each paid test order when TEST_ORDER_STEP_MS have passed since its last change, and delivers it as
 * long after that.
 */
@Injectable()
export class SimulatedWarehouse extends BackgroundLoop {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly handleFulfilmentEvents: HandleFulfilmentEvents,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({ name: 'simulated-warehouse', intervalMs: pollIntervalMs, logger, round: () => this.round() });
  }

  /** Returns whether more orders may be due. */
  round(): Promise<boolean> {
    const { TEST_ORDER_STEP_MS: stepMs } = this.config;
    if (stepMs === 0) return Promise.resolve(false);
    return this.database.transaction(async (tx) => {
      const orders = await tx.rows<{ id: string; status: OrderStatus; now: Date }>(lockDueOrders, [stepMs]);
      if (orders.length > 0)
        await this.handleFulfilmentEvents.run(
          tx,
          orders.map(({ id, status, now }) =>
            simulatedEvent(status === 'processing' ? 'shipped' : 'delivered', id, now),
          ),
        );
      return orders.length === batchSize;
    });
  }
}
