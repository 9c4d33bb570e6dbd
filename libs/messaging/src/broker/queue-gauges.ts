import type { MessageQueue } from '@fulfilment/contracts';
import { BackgroundLoop, Gauge, type Logger } from '@fulfilment/runtime';
import type { Broker } from './broker.js';
import { rabbitmqQueuesOf } from './topology.js';

const defaultIntervalMs = 15_000;

const depth = new Gauge({
  name: 'messaging_queue_messages',
  help: 'Messages that wait in a queue. Each replica of the service reports the same queues, so use the maximum.',
  labelNames: ['queue'],
});
const deadLetters = new Gauge({
  name: 'messaging_dead_letters',
  help: 'Messages in the dead-letter queue of a queue, moved there by a service or by RabbitMQ.',
  labelNames: ['queue'],
});

/**
 * Reports how many messages and dead letters wait in each queue that a service consumes. A sharded queue is
 * reported as one: the sum of its intakes and shards.
 */
export class QueueGauges extends BackgroundLoop {
  constructor(
    private readonly broker: Broker,
    private readonly queues: readonly MessageQueue[],
    logger: Logger,
    intervalMs: number = defaultIntervalMs,
  ) {
    super({ name: 'queue-gauges', intervalMs, logger, round: () => this.round() });
  }

  /** Updates the values. While RabbitMQ is unreachable, they stay; readiness and the outbox report that. */
  private async round(): Promise<void> {
    for (const queue of this.queues) {
      const { topology } = this.broker;
      const waiting = await this.countAll(rabbitmqQueuesOf(topology, queue));
      const dead = await this.broker.inspect(topology.deadLetterQueue(queue));
      if (waiting !== undefined) depth.set({ queue }, waiting);
      if (dead !== undefined) deadLetters.set({ queue }, dead.messageCount);
    }
  }

  /** Returns the number of messages in these queues; undefined if any of the counts is unknown. */
  private async countAll(names: readonly string[]): Promise<number | undefined> {
    let sum = 0;
    for (const name of names) {
      const queue = await this.broker.inspect(name);
      if (queue === undefined) return undefined;
      sum += queue.messageCount;
    }
    return sum;
  }
}
