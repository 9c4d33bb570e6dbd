import { BACKGROUND_DATABASE, Database, type Statement, statement } from '@fulfilment/database';
import { BackgroundTask, LOGGER, type Logger, SlotLoop } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../../config.js';
import { ChargeSender } from '../../billing/charge-sender.js';
import { ChargeOrder } from '../../billing/charge-order.js';
import { openChargeColumns } from '../../billing/open-charge.js';
import type { OpenCharge } from '../../payments/payment-gateway.js';
import { SettleOrder } from './settle-order.js';

const pollIntervalMs = 2_000;
/**
 * Concurrent charges of a loop. A charge holds no connection while it waits for the provider, so the limit
 * matters for the settlements, which share the background pool.
 */
const slots = 20;
/** Time to settle after the provider's timeout, before another replica may claim the order. */
const leaseMarginMs = 5_000;

/**
 * Returns a statement that claims due orders. Its parameters: the lease in ms, the maximum number, and which
 * values of `test` the orders may have.
 * @param condition that of a partial index, with constants: with parameters, PostgreSQL could not use the
 *   index
 */
const claimStatement = (name: string, condition: string): Statement =>
  statement(
    name,
    `UPDATE orders o SET resume_at = now() + $1::int * interval '1 millisecond'
     FROM (SELECT id FROM orders WHERE resume_at < now() AND ${condition} AND test = ANY ($3::boolean[])
           ORDER BY resume_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
     JOIN charges c ON c.order_id = due.id AND c.status = 'pending'
     WHERE o.id = due.id
     RETURNING ${openChargeColumns}`,
  );

/**
 * Claims orders without a recorded attempt to charge: their request died, an open circuit suspended the
 * charge, or a recharge began.
 */
export const claimUnattempted = claimStatement('orders.claim-unattempted', 'resume_tries = 0');

/** Claims orders whose earlier attempts to charge had no outcome. */
export const claimRetries = claimStatement('orders.claim-retries', 'resume_tries > 0');

/**
 * Continues orders with a pending charge: after a crash, without a response of the provider, after an open
 * circuit, and when a recharge began. Orders without an attempt have a loop with its own slots, so that they
 * do not wait for retries to a silent provider. Any number of replicas may run.
 */
@Injectable()
export class OrderCompleter extends BackgroundTask {
  /** Stops first, so that no charge starts while the service shuts down. */
  override readonly stopsBeforeHttp = true;
  private readonly loops: readonly SlotLoop<OpenCharge>[];

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly chargeOrder: ChargeOrder,
    private readonly settleOrder: SettleOrder,
    private readonly chargeSender: ChargeSender,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
    this.loops = [
      this.loop('resume-orders', claimUnattempted),
      this.loop('resume-orders-retries', claimRetries),
    ];
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Orders that wait for the provider are left to another replica, after their lease. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Continues all orders that are due now. */
  async round(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.processDue()));
  }

  private loop(name: string, claimDue: Statement): SlotLoop<OpenCharge> {
    return new SlotLoop({
      name,
      intervalMs: pollIntervalMs,
      logger: this.logger,
      slots,
      claim: (max) => this.claim(max, claimDue),
      work: (charge, stopping) => this.resume(charge, stopping),
    });
  }

  /** An open circuit limits only the live orders, since the sandbox charges the test orders. */
  private async claim(max: number, claimDue: Statement): Promise<OpenCharge[]> {
    const leaseMs = this.config.PAYMENT_TIMEOUT_MS + leaseMarginMs;
    const claim = (limit: number, test: boolean[]): Promise<OpenCharge[]> =>
      this.database.rows<OpenCharge>(claimDue, [leaseMs, limit, test]);
    const maxLive = this.chargeSender.completerCapacity(max);
    if (maxLive === max) return claim(max, [true, false]);
    const liveCharges = maxLive === 0 ? [] : await claim(maxLive, [false]);
    return [...liveCharges, ...(await claim(max - liveCharges.length, [true]))];
  }

  private async resume(charge: OpenCharge, stopping: AbortSignal): Promise<void> {
    const outcome = await this.chargeOrder.run(this.database, charge, 'completer', stopping);
    if (outcome === undefined && stopping.aborted) return;
    const { status } = await this.settleOrder.run(this.database, charge, outcome);
    const sentence =
      status === 'pending' ? 'The charge of a resumed order is still pending.' : 'Resumed an order.';
    this.logger.info({ order_id: charge.orderId, status }, sentence);
  }
}
