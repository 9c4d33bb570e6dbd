import { messages } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import type { BenchContext } from '../bench-context.ts';
import { paidOrder, placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { type Sample, measureWork, type Rounds } from '../rounds.ts';
import type { ServedProcess } from '../served-process.ts';
import { busyCreator, type CreatorData } from './creator-data.ts';

/** A consumer of order messages with its queue and its database. */
export interface Projector {
  readonly name: string;
  readonly queue: string;
  readonly data: CreatorData;
  readonly process: ServedProcess;
}

/** Number of messages of each type in a sample. */
export const messagesPerSample = 4_000;
const applyTimeoutMs = 60_000;
const pollIntervalMs = 5;

/** Measures how fast each projector applies new orders and payments, alternately. */
export async function measureProjection(
  context: BenchContext,
  projectors: readonly Projector[],
): Promise<{ created: Rounds; paid: Rounds }> {
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const variants = projectors.map((projector) => ({
    projector,
    created: new Array<Sample>(),
    paid: new Array<Sample>(),
  }));

  /** Fills the queue while the consumer is paused, so that publishing and consuming do not compete. */
  const project = async ({ queue, data, process }: Projector, sent: readonly { id: string }[]) => {
    const bodies = sent.map((message) => Buffer.from(JSON.stringify(message)));
    process.pause();
    for (const body of bodies) channel.publish('', queue, body, { persistent: true, mandatory: true });
    await channel.waitForConfirms();
    const isApplied = () => data.isApplied(sent.at(-1)?.id ?? '');
    return measureWork(
      sent.length,
      () => process.cpuMs(),
      () => {
        process.resume();
        return eventually(isApplied, applyTimeoutMs, 'the messages are applied', pollIntervalMs);
      },
    );
  };

  const messageTime = { occurredAt: new Date() };
  for (let round = -1; round < context.rounds; round += 1) {
    for (const { projector, ...samples } of round % 2 === 0 ? variants : variants.toReversed()) {
      const orders = Array.from({ length: messagesPerSample }, (_, index) => placedOrder(index, busyCreator));
      const created = await project(
        projector,
        orders.map((order) => messages.orderCreated.make({ order }, messageTime)),
      );
      const payments = await project(
        projector,
        orders.map((order) => messages.orderProcessing.make({ order: paidOrder(order) }, messageTime)),
      );
      if (round < 0) continue; // warm-up
      samples.created.push(created);
      samples.paid.push(payments);
    }
  }
  await connection.close();
  return {
    created: Object.fromEntries(variants.map(({ projector, created }) => [projector.name, created])),
    paid: Object.fromEntries(variants.map(({ projector, paid }) => [projector.name, paid])),
  };
}
