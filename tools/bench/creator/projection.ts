import { messages } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import type { BenchContext } from '../bench-context.ts';
import { paidOrder, placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { alternate, measurePrepared, type PausableServer, type Rounds } from '../rounds.ts';
import { busyCreator, type CreatorData } from './creator-data.ts';

/** A consumer of order messages with its queue and its database. */
export interface Projector {
  readonly name: string;
  readonly queue: string;
  readonly data: CreatorData;
  readonly server: PausableServer;
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

  const project = ({ queue, data, server }: Projector, sent: readonly { readonly id: string }[]) => {
    const bodies = sent.map((message) => Buffer.from(JSON.stringify(message)));
    // The only consumer applies the messages in the order of their arrival.
    const isLastApplied = () => data.isApplied(sent.at(-1)?.id ?? '');
    return measurePrepared(sent.length, server, {
      prepare: () => {
        for (const body of bodies) channel.publish('', queue, body, { persistent: true });
        return channel.waitForConfirms();
      },
      work: () => eventually(isLastApplied, applyTimeoutMs, 'the messages are applied', pollIntervalMs),
    });
  };

  const messageTime = { occurredAt: new Date() };
  const measure = async (projector: Projector) => {
    const orders = Array.from({ length: messagesPerSample }, (_, index) => placedOrder(index, busyCreator));
    const created = orders.map((order) => messages.orderCreated.make({ order }, messageTime));
    const paid = orders.map((order) =>
      messages.orderProcessing.make({ order: paidOrder(order) }, messageTime),
    );
    return { created: await project(projector, created), paid: await project(projector, paid) };
  };
  const variants = projectors.map((projector) => ({
    name: projector.name,
    measure: () => measure(projector),
  }));
  const rounds = Object.entries(await alternate(variants, context.rounds));
  await connection.close();
  return {
    created: Object.fromEntries(
      rounds.map(([name, samples]) => [name, samples.map(({ created }) => created)]),
    ),
    paid: Object.fromEntries(rounds.map(([name, samples]) => [name, samples.map(({ paid }) => paid)])),
  };
}
