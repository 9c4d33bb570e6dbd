import { messages, topologyOf } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';
import pg from 'pg';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { alternate, comparisonFigures, makeSample, measureWork, type Sample } from '../rounds.ts';
import { type OutboxSender, startOutboxSender } from './outbox-sender.ts';

/** Namespace of the exchange and queues. */
const relayNamespace = 'bench_relay';
export const relayedPerSample = 5_000;
const confirmedAtOnce = 100;
const timeoutMs = 30_000;
const pollIntervalMs = 5;

/**
 * Compares the outbox relay, from the commit of rows until the outbox is empty, with a publisher that has
 * such messages in memory and waits for confirms after every 100. Both publish to the same exchange, to which
 * the suite's quorum queues are bound.
 */
export async function benchRelay(context: BenchContext, channel: ConfirmChannel): Promise<Figure[]> {
  const relay = await startRelay(context, channel, 'bench_relay');
  try {
    const rounds = await alternate(
      [
        { name: 'confirms', measure: () => measureConfirms(channel) },
        { name: 'relay', measure: relay.measure },
      ],
      context.rounds,
    );
    const pair = { numerator: 'relay', denominator: 'confirms' };
    return comparisonFigures('outbox relay, ratio to batched publisher confirms', rounds, pair, {
      atLeast: 0.6,
    });
  } finally {
    await relay.stop();
  }
}

/** Starts an outbox relay. @param database name of its database */
export async function startRelay(context: BenchContext, channel: ConfirmChannel, database: string) {
  const sender = await startOutboxSender(context, relayNamespace, database);
  const outbox = new pg.Client(sender.databaseUrl);
  await outbox.connect();
  return {
    databaseUrl: sender.databaseUrl,
    measure: () => measureRelay(channel, sender, outbox),
    stop: async () => {
      await outbox.end();
      await sender.stop();
    },
  };
}

const creatorId = '01900000-0000-7000-8000-000000000001';
const newOrders = () => Array.from({ length: relayedPerSample }, (_, index) => placedOrder(index, creatorId));

async function measureConfirms(channel: ConfirmChannel): Promise<Sample> {
  const created = newOrders().map((order) =>
    messages.orderCreated.make({ order }, { occurredAt: new Date() }),
  );
  const bodies = created.map((message) => ({ id: message.id, body: Buffer.from(JSON.stringify(message)) }));
  const sample = await measureWork(relayedPerSample, { cpuMs: ownCpuMs }, async () => {
    for (let from = 0; from < bodies.length; from += confirmedAtOnce) {
      for (const { id, body } of bodies.slice(from, from + confirmedAtOnce))
        channel.publish(topologyOf(relayNamespace).factsExchange, 'order.created', body, {
          persistent: true,
          messageId: id,
          contentType: 'application/json',
        });
      await channel.waitForConfirms();
    }
  });
  await purge(channel);
  return sample;
}

/** Measures from the commit of rows until the outbox is empty. */
async function measureRelay(
  channel: ConfirmChannel,
  sender: OutboxSender,
  outbox: pg.Client,
): Promise<Sample> {
  const commit = await sender.commit(newOrders());
  const isEmpty = async () => (await outbox.query('SELECT FROM outbox LIMIT 1')).rowCount === 0;
  await eventually(isEmpty, timeoutMs, 'the outbox is empty', pollIntervalMs);
  const elapsedMs = performance.timeOrigin + performance.now() - commit.committed_at_ms;
  const sample = makeSample(relayedPerSample, elapsedMs, [commit.cpu_ms, sender.server.cpuMs()]);
  await purge(channel);
  return sample;
}

/** Empties the queues of `order.created`. @throws Failure unless each had all messages of one sample */
async function purge(channel: ConfirmChannel): Promise<void> {
  for (const name of ['creator-api.facts', 'webhook-worker.events'] as const) {
    const { messageCount } = await channel.purgeQueue(topologyOf(relayNamespace).queue(name));
    if (messageCount !== relayedPerSample)
      throw new Failure(`${name} had ${messageCount} messages, not ${relayedPerSample}.`);
  }
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
