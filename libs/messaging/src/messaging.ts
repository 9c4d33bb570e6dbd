import type { Database } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import { Broker } from './broker.js';
import { Consumer, type ConsumerOptions } from './consumer.js';
import { pruneInbox } from './inbox.js';
import { Outbox } from './outbox.js';
import { OutboxRelay } from './outbox-relay.js';

const pruneEveryMs = 3_600_000;

/** A service's side of RabbitMQ: what it sends, and what it takes. */
export class Messaging {
  readonly outbox = new Outbox();
  private readonly broker: Broker;
  private readonly relay: OutboxRelay;
  private readonly pruner: BackgroundLoop;
  private readonly consumers: Consumer[] = [];

  constructor(
    settings: { readonly url: string; readonly service: string; readonly namespace: string },
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    this.broker = new Broker(
      { url: settings.url, name: settings.service, namespace: settings.namespace },
      logger,
    );
    this.relay = new OutboxRelay(database, this.broker, this.outbox, logger);
    this.pruner = new BackgroundLoop({
      name: 'inbox-pruner',
      intervalMs: pruneEveryMs,
      logger,
      round: () => pruneInbox(database),
    });
  }

  /** For the readiness probe. */
  get connected(): boolean {
    return this.broker.connected;
  }

  /** Call before `start`. */
  consume(options: ConsumerOptions): void {
    this.consumers.push(new Consumer(options, this.database, this.broker, this.logger));
  }

  start(): void {
    this.broker.start();
    this.relay.start();
    this.pruner.start();
  }

  /** Finishes what is in hand, then closes. */
  async stop(): Promise<void> {
    await Promise.all([
      this.relay.stop(),
      this.pruner.stop(),
      ...this.consumers.map((consumer) => consumer.stop()),
    ]);
    await this.broker.stop();
  }
}
