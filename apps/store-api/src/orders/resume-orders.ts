import { BACKGROUND_DATABASE, Database, type Statement } from '@fulfilment/database';
import { LOGGER, type Logger, SlotLoop } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { ChargeCircuit } from '../payments/charge-circuit.js';
import { BACKGROUND_CHARGE_ORDER, type ChargeOrder } from './charge-order.js';
import type { OpenCharge } from './open-charge.js';
import { takeAgain, takeFirst } from './take-pending.js';

const lookEveryMs = 2_000;
/** Of each loop. A charge holds no connection while it waits for the provider, so these bound how many settlements queue for the pool. */
const slots = 20;
/** Beside the provider's time, what an order is left to the completer that took it before another does. */
const resumeWithinMs = 5_000;

/**
 * The completer: goes on with orders that a crash or a silent provider left pending. Those that nobody has asked for yet have slots of their
 * own, so that they wait for none of those a silent provider is asked for again and again. Any number of replicas may run.
 */
@Injectable()
export class ResumeOrders {
  private readonly loops: readonly SlotLoop<OpenCharge>[];

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(BACKGROUND_CHARGE_ORDER) private readonly chargeOrder: ChargeOrder,
    private readonly circuit: ChargeCircuit,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loops = [this.loop('resume-orders', takeFirst), this.loop('resume-orders-again', takeAgain)];
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** What waits for the provider is left to who takes it up when its lease ends. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Goes on with all that is due now. */
  async round(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.drain()));
  }

  private loop(name: string, takePending: Statement): SlotLoop<OpenCharge> {
    const leaseMs = this.config.PAYMENT_TIMEOUT_MS + resumeWithinMs;
    return new SlotLoop({
      name,
      intervalMs: lookEveryMs,
      logger: this.logger,
      slots,
      take: (most) => this.take(leaseMs, this.circuit.roomForCompleter(most), takePending),
      work: (charge, stopping) => this.resume(charge, stopping),
    });
  }

  private async take(leaseMs: number, most: number, takePending: Statement): Promise<OpenCharge[]> {
    return most === 0 ? [] : this.database.rows<OpenCharge>(takePending, [leaseMs, most]);
  }

  private async resume(charge: OpenCharge, stopping: AbortSignal): Promise<void> {
    const { status } = await this.chargeOrder.run(charge, stopping);
    this.logger.info({ order_id: charge.orderId, status }, 'Resumed an order.');
  }
}
