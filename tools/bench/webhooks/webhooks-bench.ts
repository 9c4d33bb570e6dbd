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

const warmUpParts = 5;

/**
 * Compares webhook-worker with bare undici, and with itself when it has past deliveries. Measures latency at
 * a fixed rate. Compares the outbox relay with bare publisher confirms.
 */
export async function benchWebhooks(site: BenchSite): Promise<readonly Figure[]> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receiver = await ReceiverProcess.start();
  const connections = { receiver, channel };
  try {
    const worker = await site.step('webhook-worker', () =>
      DeliveringWorker.start(site, 'bench_webhooks', connections),
    );
    try {
      const figures = await site.step('Deliveries', () => compareWithBaseline(site, worker, receiver));
      figures.push(...(await site.step('Adaptive windows', () => benchWindows(site, worker, receiver))));
      figures.push(...(await site.step('Outbox relay', () => benchRelay(site, channel))));
      figures.push(...(await site.step('Fixed rates', () => benchLatency(site, worker, receiver))));
      await worker.checkHistory();
      if (site.oldRows > 0) figures.push(...(await compareWithHistory(site, worker, connections)));
      figures.push(
        ...(await site.step('With unreachable receivers', () =>
          benchWithDeadReceivers(site, worker, receiver),
        )),
      );
      return [...figures, worker.startTime, ...worker.service.memory()];
    } finally {
      await receiver.stop(); // ends the attempts that still wait for a response
      await worker.stop();
    }
  } finally {
    await receiver.stop();
    await connection.close();
  }
}

async function compareWithBaseline(
  site: BenchSite,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const bare = await BareSender.start(receiver);
  try {
    // Warms the worker up with as many deliveries as the uncounted first part of the bare sender has.
    for (let part = 0; part < warmUpParts; part += 1) await worker.measureFromMessages();
    const rounds = await alternate(
      [
        // First, since the other variants send copies of the bodies that it has stored.
        { name: 'from messages', part: () => worker.measureFromMessages() },
        { name: 'bare', part: () => bare.send(worker) },
        { name: 'from a backlog', part: () => worker.measureFromBacklog() },
      ],
      site.rounds,
    );
    return [
      ...compareRates('deliveries of what is due', rounds, 'from a backlog'),
      ...compareRates('deliveries from message to settled', rounds, 'from messages'),
      ...absolute(rounds, 'bare'),
      ...absolute(rounds, 'from a backlog'),
      ...absolute(rounds, 'from messages'),
    ];
  } finally {
    await bare.stop();
  }
}

function compareRates(name: string, rounds: Rounds, variant: string): Figure[] {
  return [
    ...ratioPerCore(`${name}, a core, of bare undici`, rounds, variant, 'bare', { atLeast: 0.25 }),
    ratio(`  the same by the clock`, rounds, variant, 'bare'),
  ];
}

/** Alternates a webhook-worker with many past deliveries and the first one. */
async function compareWithHistory(
  site: BenchSite,
  without: DeliveringWorker,
  connections: Parameters<typeof DeliveringWorker.start>[2],
): Promise<Figure[]> {
  const { oldRows } = site;
  const grown = await DeliveringWorker.start(site, 'bench_webhooks_grown', connections);
  try {
    // Warms it up like the first worker, so that the comparison shows only the effect of the history.
    await grown.measureFromMessages();
    for (let part = 0; part < warmUpParts; part += 1) await grown.measureFromBacklog();
    await site.step(`${oldRows} deliveries of the past`, async () => {
      await grown.data.addHistory(grown.subscribers, oldRows);
      await grown.data.analyse();
      await without.data.analyse();
    });
    const rounds = await site.step('Deliveries with this history', () =>
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
