import { type MessageQueue, type Topology, topologyOf } from '@fulfilment/contracts';
import type { Logger } from '@fulfilment/runtime';
import { type ChannelModel, type ConfirmChannel, connect, type Replies } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { declareQueues, ensureFactsExchange, onOwnChannel } from './topology.js';

const firstRetryMs = 200;
const lastRetryMs = 1_000; // a broker that is back should not be waited for: an attempt costs next to nothing
const heartbeatSeconds = 10;

/** Sets up its own channel (consumes, or keeps it to publish). Called with a new one after every reconnect. */
export type ChannelUser = (channel: ConfirmChannel, connection: ChannelModel) => Promise<void>;

/** Resolves when the connection may be opened; rejects while it may not. */
export type Gate = () => Promise<unknown>;

/** One connection to RabbitMQ that comes back by itself. A channel that fails takes the connection with it, and both return. */
export class Broker {
  readonly topology: Topology;
  /** From when it is open until it ends; `isReady` once its channels are set up. */
  private connection: ChannelModel | undefined;
  private isReady = false;
  private alarmed = false;
  private readonly users: ChannelUser[] = [];
  private readonly queues: MessageQueue[] = [];
  private gate: Gate | undefined;
  private stopping = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly settings: { readonly url: string; readonly name: string; readonly namespace: string },
    private readonly logger: Logger,
  ) {
    this.topology = topologyOf(settings.namespace);
  }

  get connected(): boolean {
    return this.isReady;
  }

  /** RabbitMQ is short of memory or disk and takes nothing published: what is sent all the same would pile up in this process. */
  get blocked(): boolean {
    return this.alarmed;
  }

  /** Call before `start`. @param queues what the user consumes; declared before it gets its channel */
  use(user: ChannelUser, queues: readonly MessageQueue[] = []): void {
    this.users.push(user);
    this.queues.push(...queues);
  }

  start(): void {
    this.running ??= this.keepConnected();
  }

  /**
   * Ends the connection, also one whose channels are being set up, and opens another: RabbitMQ delivers what was not acknowledged once more, to this process or another.
   * @param gate opens the next connection only once this resolves; polled each second
   */
  reconnect(gate?: Gate): void {
    this.gate = gate ?? this.gate;
    void this.connection?.close().catch(() => undefined);
  }

  /** How many messages and consumers a queue has; undefined when it does not exist or RabbitMQ cannot be reached. */
  async inspect(queue: string): Promise<Replies.AssertQueue | undefined> {
    const { connection } = this;
    if (connection === undefined || !this.isReady) return undefined;
    try {
      return await onOwnChannel(connection, (channel) => channel.checkQueue(queue));
    } catch (error) {
      if (this.connection !== connection) return undefined; // it ended meanwhile
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.connection?.close().catch(() => undefined);
  }

  private async keepConnected(): Promise<void> {
    let retryMs = firstRetryMs;
    while (!this.stopping) {
      try {
        await this.gate?.();
        this.gate = undefined;
        await this.serveOneConnection(() => {
          retryMs = firstRetryMs;
        });
        if (!this.stopping) this.logger.warn('The connection to RabbitMQ ended; connecting again.');
      } catch (error) {
        if (this.stopping) return;
        const problem = this.gate === undefined ? 'RabbitMQ cannot be reached' : 'A dependency is away';
        this.logger.warn({ error, retry_ms: retryMs }, `${problem}; trying again.`);
      }
      this.connection = undefined;
      this.isReady = false;
      if (!this.stopping) await delay(retryMs, undefined, { ref: false });
      retryMs = Math.min(retryMs * 2, lastRetryMs);
    }
  }

  private async serveOneConnection(onReady: () => void): Promise<void> {
    const url = new URL(this.settings.url);
    url.searchParams.set('heartbeat', String(heartbeatSeconds));
    const connection = await connect(url.href, {
      clientProperties: { connection_name: this.settings.name },
      timeout: 5_000,
    });
    this.connection = connection;
    this.alarmed = false;
    connection.on('blocked', () => {
      this.alarmed = true;
      this.logger.warn(
        { connection: this.settings.name },
        'RabbitMQ takes no messages: it is short of memory or disk.',
      );
    });
    connection.on('unblocked', () => {
      this.alarmed = false;
      this.logger.info({ connection: this.settings.name }, 'RabbitMQ takes messages again.');
    });
    connection.on('error', (error: Error) => this.logger.warn({ error }, 'RabbitMQ reported an error.'));
    const ended = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    try {
      await this.openChannels(connection);
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    }
    if (this.stopping) return connection.close();
    this.isReady = true;
    onReady();
    this.logger.info({ connection: this.settings.name }, 'Connected to RabbitMQ.');
    await ended;
  }

  private async openChannels(connection: ChannelModel): Promise<void> {
    await ensureFactsExchange(connection, this.topology);
    await declareQueues(connection, this.topology, this.queues);
    for (const user of this.users) await user(await this.openChannel(connection), connection);
  }

  private async openChannel(connection: ChannelModel): Promise<ConfirmChannel> {
    const channel = await connection.createConfirmChannel();
    channel.on('error', (error: Error) => {
      this.logger.warn({ error }, 'A RabbitMQ channel failed; connecting again.');
      void connection.close().catch(() => undefined);
    });
    return channel;
  }
}
