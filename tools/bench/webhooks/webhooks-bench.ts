import { connect } from 'amqplib';
import type { BenchSite } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { absolute, ratio, ratioPerCore, type Rounds, alternate } from '../rounds.ts';
import { BareSender } from './bare-sender-process.ts';
import { DeliveringWorker } from './delivering-worker.ts';
import { benchWithDeadReceivers, benchLatency } from './latency.ts';
import { ReceiverProcess } from './receiver-process.ts';
import { benchRelay } from './relay.ts';
import { benchWindows } from './windows.ts';

const partsUntilCompiled = 5;

/**
 * Compares webhook-worker with bare undici, and with itself when it has a history. Measures latency at a
 * fixed rate. Compares the outbox relay with bare publisher confirms.
 */
export async function benchWebhooks(site: BenchSite): Promise<readonly Figure[]> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receiver = await ReceiverProcess.start();
  const means = { receiver, channel };
  try {
    const of = await site.step('webhook-worker', () => DeliveringWorker.start(site, 'bench_webhooks', means));
    try {
      const figures = await site.step('Deliveries', () => versusBaseline(site, of, receiver));
      figures.push(...(await site.step('Adaptive windows', () => benchWindows(site, of, receiver))));
      figures.push(...(await site.step('Outbox relay', () => benchRelay(site, channel))));
      figures.push(...(await site.step('Fixed rates', () => benchLatency(site, of, receiver))));
      await of.checkHistory();
      if (site.oldRows > 0) figures.push(...(await versusHistory(site, of, means)));
      figures.push(
        ...(await site.step('Beside dead ones', () => benchWithDeadReceivers(site, of, receiver))),
      );
      return [...figures, of.startTime, ...of.worker.memory()];
    } finally {
      await receiver.stop(); // what the dead ones still wait for ends with it
      await of.stop();
    }
  } finally {
    await receiver.stop();
    await connection.close();
  }
}

async function versusBaseline(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const bare = await BareSender.start(receiver);
  try {
    // As many deliveries as the bare sender makes in its first part, which does not count either.
    for (let part = 0; part < partsUntilCompiled; part += 1) await of.measureFromMessages();
    const rounds = await alternate(
      [
        // First: the others' bodies are like what it sent.
        { name: 'from messages', part: () => of.measureFromMessages() },
        { name: 'bare', part: () => bare.send(of) },
        { name: 'from a backlog', part: () => of.measureFromBacklog() },
      ],
      site.rounds,
    );
    return [
      ...compared('deliveries of what is due', rounds, 'from a backlog'),
      ...compared('deliveries from message to settled', rounds, 'from messages'),
      ...absolute(rounds, 'bare'),
      ...absolute(rounds, 'from a backlog'),
      ...absolute(rounds, 'from messages'),
    ];
  } finally {
    await bare.stop();
  }
}

function compared(name: string, rounds: Rounds, of: string): Figure[] {
  return [
    ...ratioPerCore(`${name}, a core, of bare undici`, rounds, of, 'bare', { atLeast: 0.25 }),
    ratio(`  the same by the clock`, rounds, of, 'bare'),
  ];
}

/** Another webhook-worker, that has delivered much before, and the first take turns. */
async function versusHistory(
  site: BenchSite,
  without: DeliveringWorker,
  means: Parameters<typeof DeliveringWorker.start>[2],
): Promise<Figure[]> {
  const { oldRows } = site;
  const grown = await DeliveringWorker.start(site, 'bench_webhooks_grown', means);
  try {
    // The first has been at work for a while: what is compiled in one process and not yet in the other would
    // be taken for the history's.
    await grown.measureFromMessages();
    for (let part = 0; part < partsUntilCompiled; part += 1) await grown.measureFromBacklog();
    await site.step(`${oldRows} deliveries of the past`, async () => {
      await grown.data.addHistory(grown.subscribers, oldRows);
      await grown.data.analyse();
      await without.data.analyse();
    });
    const rounds = await site.step('Deliveries beside these', () =>
      alternate(
        [
          { name: 'without', part: () => without.measureFromBacklog() },
          { name: 'with', part: () => grown.measureFromBacklog() },
        ],
        site.rounds,
      ),
    );
    const target = { atLeast: 0.9 };
    return [
      ratio(
        `deliveries of what is due beside ${oldRows} of the past, of without`,
        rounds,
        'with',
        'without',
        target,
      ),
      ...ratioPerCore('  the same, a core', rounds, 'with', 'without'),
    ];
  } finally {
    await grown.stop();
  }
}
