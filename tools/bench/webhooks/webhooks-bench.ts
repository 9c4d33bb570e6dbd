import { connect } from 'amqplib';
import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { absoluteFigures, alternate, ratio, ratioPerCpuSecond, type Rounds } from '../rounds.ts';
import { startBareSender } from './bare-sender-process.ts';
import { DeliveringWorker } from './delivering-worker.ts';
import { benchWithUnresponsiveReceivers, benchLatency } from './latency.ts';
import { ReceiverProcess } from './receiver-process.ts';
import { benchRelay } from './relay.ts';
import { benchWindows } from './windows.ts';

const warmUpSampleCount = 5;

/**
 * Compares webhook-worker with bare undici, and the outbox relay with bare publisher confirms. Measures
 * latency at a fixed rate.
 */
export async function benchWebhooks(context: BenchContext): Promise<readonly Figure[]> {
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receiver = await ReceiverProcess.start();
  try {
    const worker = await context.step('webhook-worker', () =>
      DeliveringWorker.start(context, 'bench_webhooks', { receiver, channel }),
    );
    try {
      const figures = await context.step('Deliveries', () => compareWithBaseline(context, worker, receiver));
      figures.push(
        ...(await context.step('Adaptive windows', () => benchWindows(context, worker, receiver))),
      );
      figures.push(...(await context.step('Outbox relay', () => benchRelay(context, channel))));
      figures.push(...(await context.step('Fixed rates', () => benchLatency(context, worker, receiver))));
      await worker.checkHistory();
      figures.push(
        ...(await context.step('With unresponsive receivers', () =>
          benchWithUnresponsiveReceivers(context, worker, receiver),
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
  context: BenchContext,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const bare = await startBareSender(receiver);
  try {
    // `alternate` discards one round as a warm-up. That is too short for the worker, whose samples have fewer
    // deliveries than the bare sender's.
    for (let sample = 0; sample < warmUpSampleCount; sample += 1) await worker.measureFromMessages();
    const rounds = await alternate(
      [
        { name: 'from messages', measure: () => worker.measureFromMessages() },
        { name: 'bare', measure: () => bare.send(worker) },
        { name: 'from a backlog', measure: () => worker.measureFromBacklog() },
      ],
      context.rounds,
    );
    return [
      ...compareRates('deliveries from a backlog', rounds, 'from a backlog'),
      ...compareRates('deliveries from messages', rounds, 'from messages'),
      ...absoluteFigures(rounds, 'bare'),
      ...absoluteFigures(rounds, 'from a backlog'),
      ...absoluteFigures(rounds, 'from messages'),
    ];
  } finally {
    await bare.stop();
  }
}

function compareRates(name: string, rounds: Rounds, variant: string): Figure[] {
  return [
    ...ratioPerCpuSecond(
      `${name} by processor time, ratio to bare undici`,
      rounds,
      { numerator: variant, denominator: 'bare' },
      { atLeast: 0.25 },
    ),
    ratio('  the same by throughput', rounds, { numerator: variant, denominator: 'bare' }),
  ];
}
