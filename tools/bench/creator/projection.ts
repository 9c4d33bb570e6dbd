import { messages, type OrderSnapshot } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import type { BenchSite } from '../bench-site.ts';
import { placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { type Part, measurePart, type Rounds } from '../rounds.ts';
import type { ServedProcess } from '../served-process.ts';
import { busyCreator, type CreatorData } from './creator-data.ts';

/** A consumer of order messages with its queue and its database. */
export interface Projector {
  readonly name: string;
  readonly queue: string;
  readonly data: CreatorData;
  readonly process: ServedProcess;
}

/** Number of messages of each kind in a part of a round. */
export const messagesPerPart = 4_000;
const applyTimeoutMs = 60_000;

function paid(order: OrderSnapshot): OrderSnapshot {
  const payment = { ...order.payment, status: 'paid' as const, charged_at: order.placed_at };
  return { ...order, version: 2, status: 'processing', payment };
}

/** Measures how fast each projector applies new orders and payments, in alternating parts. */
export async function measureProjection(
  site: BenchSite,
  projectors: readonly Projector[],
): Promise<{ created: Rounds; paid: Rounds }> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const parts = projectors.map((projector) => ({
    projector,
    created: new Array<Part>(),
    paid: new Array<Part>(),
  }));

  /** Fills the queue while the consumer is paused, so that publishing and consuming do not compete. */
  const project = async ({ queue, data, process }: Projector, sent: readonly { id: string }[]) => {
    const bodies = sent.map((message) => Buffer.from(JSON.stringify(message)));
    process.pause();
    for (const body of bodies) channel.publish('', queue, body, { persistent: true, mandatory: true });
    await channel.waitForConfirms();
    const isApplied = () => data.isApplied(sent.at(-1)?.id ?? '');
    return measurePart(
      sent.length,
      () => process.cpuMs(),
      () => {
        process.resume();
        return eventually(isApplied, applyTimeoutMs, 'the messages are applied', 5);
      },
    );
  };

  const now = { occurredAt: new Date() };
  for (let round = -1; round < site.rounds; round += 1) {
    for (const part of round % 2 === 0 ? parts : parts.toReversed()) {
      const orders = Array.from({ length: messagesPerPart }, (_, index) => placedOrder(index, busyCreator));
      const created = await project(
        part.projector,
        orders.map((order) => messages.orderCreated.make({ order }, now)),
      );
      const payments = await project(
        part.projector,
        orders.map((order) => messages.orderProcessing.make({ order: paid(order) }, now)),
      );
      if (round < 0) continue; // warm-up
      part.created.push(created);
      part.paid.push(payments);
    }
  }
  await connection.close();
  return {
    created: Object.fromEntries(parts.map((part) => [part.projector.name, part.created])),
    paid: Object.fromEntries(parts.map((part) => [part.projector.name, part.paid])),
  };
}
