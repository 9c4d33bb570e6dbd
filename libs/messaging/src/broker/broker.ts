import { type MessageQueue, type Topology, topologyOf } from '@fulfilment/contracts';
import { type Logger, resolveWithin } from '@fulfilment/runtime';
import type { ChannelModel, ConfirmChannel, Replies } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { close } from './close.js';
import { connect } from './connect.js';
import { declareQueues, ensureFactsExchange, onOwnChannel } from './topology.js';

const minRetryDelayMs = 200;
/** Short, since an attempt costs little and a recovered RabbitMQ should be used at once. */
const maxRetryDelayMs = 1_000;
const stopTimeoutMs = 5_000;

/** Starts to consume or to publish on a channel of its own. Called after each connect, with a new channel. */
export type ChannelUser = (channel: ConfirmChannel, connection: ChannelModel) => Promise<void> | void;

/** A check that resolves if the connection may be opened now, and rejects otherwise. */
export type Precondition = () => Promise<unknown>;

/** One connection to RabbitMQ, which is replaced with all of its channels when it or a channel fails. */
export class Broker {
  readonly topology: Topology;
  private readonly logger: Logger;
  /** Set while the connection is open. */
  private connection: ChannelModel | undefined;
  /** Whether the channels of the connection are set up. */
  private isReady = false;
  private isBlocked = false;
  private readonly users: ChannelUser[] = [];
  private readonly queues: MessageQueue[] = [];
  /** Must resolve before the next connection is opened; then it is cleared. */
  private precondition: Precondition | undefined;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly settings: { readonly url: string; readonly name: string; readonly namespace: string },
    logger: Logger,
  ) {
    this.topology = topologyOf(settings.namespace);
    this.logger = logger.child({ connection: settings.name });
  }

  /** Whether the connection is open and its channels are set up. */
  get connected(): boolean {
    return this.isReady;
  }

  /** Whether RabbitMQ is short of memory or disk. It then reads no messages, so none must be sent. */
  get blocked(): boolean {
    return this.isBlocked;
  }

  /** Registers a queue to declare after each connect, before channels are opened. Call before `start`. */
  declare(queue: MessageQueue): void {
    this.queues.push(queue);
  }

  /** Registers a user of a channel. Call before `start`. */
  use(user: ChannelUser): void {
    this.users.push(user);
  }

  start(): void {
    this.running ??= this.keepConnected();
  }

  /**
   * Closes the connection, even while its channels are being set up, and opens another. RabbitMQ redelivers
   * unacknowledged messages, to this process or another.
   * @param precondition called before the connection is opened, and repeated after a delay until it resolves
   */
  reconnect(precondition?: Precondition): void {
    this.precondition = precondition ?? this.precondition;
    this.closeConnection();
  }

  /** Returns the counts of messages and consumers; undefined if there is no such queue or no connection. */
  async inspect(queue: string): Promise<Replies.AssertQueue | undefined> {
    const { connection } = this;
    if (connection === undefined || !this.isReady) return undefined;
    try {
      return await onOwnChannel(connection, (channel) => channel.checkQueue(queue));
    } catch (error) {
      if (this.connection !== connection) return undefined; // the connection ended during the call
      throw error;
    }
  }

  /** Resolves when the connection is closed, or after 5 s. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.closeConnection();
    if (this.running !== undefined) await resolveWithin(stopTimeoutMs, this.running, () => undefined);
  }

  /** Begins to close the connection. `runConnection` continues at its `close` event. */
  private closeConnection(): void {
    if (this.connection !== undefined) void close(this.connection).catch(() => undefined);
  }

  private async keepConnected(): Promise<void> {
    const { signal } = this.stopping;
    let retryDelayMs = minRetryDelayMs;
    while (!signal.aborted) {
      let problem = 'The database of a consumer is unreachable';
      try {
        await this.waitForPrecondition();
        problem = 'RabbitMQ cannot be used';
        await this.runConnection(() => {
          retryDelayMs = minRetryDelayMs;
        });
        if (!signal.aborted) this.logger.warn('The connection to RabbitMQ was lost; reconnecting.');
      } catch (error) {
        if (signal.aborted) return;
        this.logger.warn({ error, retry_ms: retryDelayMs }, `${problem}; will retry.`);
      }
      this.connection = undefined;
      this.isReady = false;
      await delay(retryDelayMs, undefined, { ref: false, signal }).catch(() => undefined);
      retryDelayMs = Math.min(retryDelayMs * 2, maxRetryDelayMs);
    }
  }

  /** Waits also for a precondition that `reconnect` sets during the wait. */
  private async waitForPrecondition(): Promise<void> {
    while (this.precondition !== undefined) {
      const { precondition } = this;
      await precondition();
      if (this.precondition === precondition) this.precondition = undefined;
    }
  }

  private async runConnection(onReady: () => void): Promise<void> {
    const { url, name } = this.settings;
    const connection = await connect(url, name);
    if (this.stopping.signal.aborted) return close(connection);
    this.connection = connection;
    this.isBlocked = false;
    connection.on('blocked', () => {
      this.isBlocked = true;
      this.logger.warn('RabbitMQ blocks publishing because it is low on memory or disk space.');
    });
    connection.on('unblocked', () => {
      this.isBlocked = false;
      this.logger.info('RabbitMQ accepts messages again.');
    });
    connection.on('error', (error: Error) => this.logger.warn({ error }, 'RabbitMQ reported an error.'));
    const ended = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    try {
      await this.openChannels(connection);
    } catch (error) {
      await close(connection).catch(() => undefined);
      throw error;
    }
    if (this.stopping.signal.aborted) return ended;
    this.isReady = true;
    onReady();
    this.logger.info('Connected to RabbitMQ.');
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
      this.logger.warn({ error }, 'A RabbitMQ channel failed; reconnecting.');
      void close(connection).catch(() => undefined);
    });
    return channel;
  }
}
