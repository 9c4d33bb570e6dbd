import type { MessageQueue } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import { Broker } from './broker.js';
import { Consumer, type ConsumerOptions, type ConsumerTimes } from './consumer.js';
import { pruneInbox } from './inbox.js';
import { Outbox } from './outbox.js';
import { OutboxRelay } from './outbox-relay.js';
import type { OutboxTimes } from './outbox-start.js';
import { QueueGauges } from './queue-gauges.js';

const pruneEveryMs = 3_600_000;

/**
 * A service's side of RabbitMQ: what it sends, and what it takes, each over a connection of its own. RabbitMQ stops reading from one that
 * publishes while it is short of memory or disk; acknowledgements must go on then, since they are what makes room.
 */
export class Messaging {
  readonly outbox = new Outbox();
  private readonly sending: Broker;
  private readonly taking: Broker;
  private readonly relay: OutboxRelay;
  private readonly pruner: BackgroundLoop;
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
      /** Rejects while the database cannot be reached; by default asked over `database`, whose pool may be in full use. */
      readonly ping?: () => Promise<void>;
      /** How often the depths of queues are read. */
      readonly gaugeIntervalMs?: number;
    },
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    const { url, namespace, service } = settings;
    this.sending = new Broker({ url, namespace, name: `${service}, sending` }, logger);
    this.taking = new Broker({ url, namespace, name: `${service}, taking` }, logger);
    this.relay = new OutboxRelay(database, this.sending, this.outbox, logger, settings.outboxTimes);
    this.gauges = new QueueGauges(this.taking, this.queues, logger, settings.gaugeIntervalMs);
    this.pruner = new BackgroundLoop({
      name: 'inbox-pruner',
      intervalMs: pruneEveryMs,
      logger,
      round: () => pruneInbox(database),
    });
  }

  /** For the readiness probe. */
  get connected(): boolean {
    return this.sending.connected && this.taking.connected;
  }

  /** Call before `start`. */
  consume(options: ConsumerOptions): void {
    this.queues.push(options.queue);
    const { ping, consumerTimes } = this.settings;
    this.consumers.push(
      new Consumer({ ...options, ping }, this.database, this.taking, this.logger, consumerTimes),
    );
  }

  start(): void {
    this.sending.start();
    this.taking.start();
    this.relay.start();
    this.pruner.start();
    this.gauges.start();
  }

  /** Finishes what is in hand, then closes. */
  async stop(): Promise<void> {
    await Promise.all([
      this.relay.stop(),
      this.pruner.stop(),
      this.gauges.stop(),
      ...this.consumers.map((consumer) => consumer.stop()),
    ]);
    await Promise.all([this.sending.stop(), this.taking.stop()]);
  }
}
