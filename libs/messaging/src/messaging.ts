import type { MessageQueue } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import { Broker } from './broker.js';
import { Consumer, type ConsumerOptions, type ConsumerTimes } from './consumer.js';
import { Outbox } from './outbox.js';
import { OutboxRelay } from './outbox-relay.js';
import type { OutboxTimes } from './outbox-scan-start.js';
import { QueueGauges } from './queue-gauges.js';

/**
 * A service's side of RabbitMQ, with separate connections for publishing and consuming. While RabbitMQ is
 * short of memory or disk, it stops reading from publishing connections; acknowledgements must continue,
 * since they free memory.
 */
export class Messaging {
  readonly outbox = new Outbox();
  private readonly publishing: Broker;
  private readonly consuming: Broker;
  private readonly relay: OutboxRelay;
  private readonly consumers: Consumer[] = [];
  private readonly queues: MessageQueue[] = [];
  private readonly gauges: QueueGauges;

  constructor(
    private readonly settings: {
      readonly url: string;
      readonly service: string;
      readonly namespace: string;
      readonly consumerTimes?: ConsumerTimes;
      readonly outboxTimes?: OutboxTimes;
      /**
       * Rejects while the database is unreachable. By default it uses `database`, whose pool may be
       * exhausted.
       */
      readonly ping?: () => Promise<void>;
      /** Interval at which the queue depths are read. */
      readonly gaugeIntervalMs?: number;
    },
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    const { url, namespace, service } = settings;
    this.publishing = new Broker({ url, namespace, name: `${service}, sending` }, logger);
    this.consuming = new Broker({ url, namespace, name: `${service}, taking` }, logger);
    this.relay = new OutboxRelay(database, this.publishing, this.outbox, logger, settings.outboxTimes);
    this.gauges = new QueueGauges(this.consuming, this.queues, logger, settings.gaugeIntervalMs);
  }

  /** For the readiness probe. */
  get connected(): boolean {
    return this.publishing.connected && this.consuming.connected;
  }

  /** Call before `start`. */
  consume(consumer: ConsumerOptions): void {
    const { queue, batchSize } = consumer;
    const handle: ConsumerOptions['handle'] = (...batch) => consumer.handle(...batch);
    this.queues.push(queue);
    const { ping, consumerTimes } = this.settings;
    this.consumers.push(
      new Consumer(
        { queue, batchSize, handle, joinsBatch: (message) => consumer.joinsBatch?.(message) ?? true, ping },
        this.database,
        this.consuming,
        this.logger,
        consumerTimes,
      ),
    );
  }

  start(): void {
    this.publishing.start();
    this.consuming.start();
    this.relay.start();
    this.gauges.start();
  }

  /** Finishes the current work, then closes. */
  async stop(): Promise<void> {
    await Promise.all([
      this.relay.stop(),
      this.gauges.stop(),
      ...this.consumers.map((consumer) => consumer.stop()),
    ]);
    await Promise.all([this.publishing.stop(), this.consuming.stop()]);
  }
}
