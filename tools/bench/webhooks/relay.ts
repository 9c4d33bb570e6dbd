import { messages, topologyOf } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';
import pg from 'pg';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { absolute, type Part, makePart, measurePart, ratio, ratioPerCore, alternate } from '../rounds.ts';
import { FactsSender } from './facts-sender.ts';

/** Namespace of the exchange and queues. */
export const relayNamespace = 'bench_relay';
export const relayedPerPart = 5_000;
const bareBatch = 100;
const timeoutMs = 30_000;

/**
 * Compares the outbox relay, from the commit of rows until the outbox is empty, with a publisher that has the
 * same messages in memory and waits for the confirms of each 100. Both publish to the same exchange, which is
 * bound to the suite's quorum queues.
 */
export async function benchRelay(site: BenchSite, channel: ConfirmChannel): Promise<Figure[]> {
  const sender = await FactsSender.start(site, relayNamespace, 'bench_relay');
  const outbox = new pg.Client({ connectionString: sender.databaseUrl });
  await outbox.connect();
  try {
    const rounds = await alternate(
      [
        { name: 'confirms', part: () => bare(channel) },
        { name: 'relay', part: () => measureRelay(channel, sender, outbox) },
      ],
      site.rounds,
    );
    return [
      ratio('outbox relay, of batched publisher confirms', rounds, 'relay', 'confirms', { atLeast: 0.6 }),
      ...ratioPerCore('  the same, each by its processor time', rounds, 'relay', 'confirms'),
      ...absolute(rounds, 'confirms'),
      ...absolute(rounds, 'relay'),
    ];
  } finally {
    await outbox.end();
    await sender.stop();
  }
}

const orders = () => Array.from({ length: relayedPerPart }, (_, index) => placedOrder(index, creatorId));
const creatorId = '01900000-0000-7000-8000-000000000001';

async function bare(channel: ConfirmChannel): Promise<Part> {
  const now = { occurredAt: new Date() };
  const created = orders().map((order) => messages.orderCreated.make({ order }, now));
  const bodies = created.map((message) => ({ id: message.id, body: Buffer.from(JSON.stringify(message)) }));
  const part = await measurePart(relayedPerPart, ownCpuMs, async () => {
    for (let from = 0; from < bodies.length; from += bareBatch) {
      for (const { id, body } of bodies.slice(from, from + bareBatch))
        channel.publish(topologyOf(relayNamespace).factsExchange, 'order.created', body, {
          persistent: true,
          messageId: id,
          contentType: 'application/json',
        });
      await channel.waitForConfirms();
    }
  });
  await purge(channel);
  return part;
}

/** Measures from the commit of rows until the outbox is empty. */
export async function measureRelay(
  channel: ConfirmChannel,
  sender: FactsSender,
  outbox: pg.Client,
): Promise<Part> {
  const committedAtMs = await sender.commit(orders());
  const cpuBefore = sender.process.cpuMs();
  await eventually(() => isEmpty(outbox), timeoutMs, 'the outbox is empty', 5);
  const elapsedMs = performance.timeOrigin + performance.now() - committedAtMs;
  const part = makePart(relayedPerPart, elapsedMs, [cpuBefore, sender.process.cpuMs()]);
  await purge(channel);
  return part;
}

async function isEmpty(outbox: pg.Client): Promise<boolean> {
  const { rowCount } = await outbox.query('SELECT FROM outbox LIMIT 1');
  return rowCount === 0;
}

/** @throws Failure unless each message is in each of the queues that order.created goes to */
async function purge(channel: ConfirmChannel): Promise<void> {
  for (const name of ['creator-api.facts', 'webhook-worker.events'] as const) {
    const { messageCount } = await channel.purgeQueue(topologyOf(relayNamespace).queue(name));
    if (messageCount !== relayedPerPart)
      throw new Failure(`${name} had ${messageCount} messages, not ${relayedPerPart}.`);
  }
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
