import type { MessageQueue, Topology } from '@fulfilment/contracts';
import type { Logger } from '@fulfilment/runtime';
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker } from '../broker/broker.js';
import { ConfirmedPublisher, type OutgoingMessage } from '../broker/confirmed-publisher.js';

const retryDelayMs = 200;

/**
 * Publishes the messages that a consumer moves to shards or dead-letter queues, and waits while RabbitMQ
 * accepts no messages. The consumer must publish one batch at a time.
 */
export class RetryingPublisher {
  readonly topology: Topology;
  /** The publisher of the newest connection; undefined before the first. */
  private publisher: ConfirmedPublisher | undefined;

  /**
   * @param publishing a connection without consumers: RabbitMQ does not read it while it is short of memory
   * @param queue queue of the consumer, for the log
   */
  constructor(
    private readonly publishing: Broker,
    private readonly queue: MessageQueue,
    private readonly logger: Logger,
  ) {
    this.topology = publishing.topology;
    publishing.use((channel) => {
      this.publisher = new ConfirmedPublisher(channel);
    });
  }

  /**
   * Publishes messages until RabbitMQ has confirmed that each is in a queue. Some may be published twice.
   * @param isWanted called before each attempt
   * @returns false if the messages were no longer wanted before they were confirmed
   */
  async publish(messages: readonly OutgoingMessage[], isWanted: () => boolean): Promise<boolean> {
    while (isWanted()) {
      try {
        if (await this.tryPublish(messages)) return true;
      } catch (error) {
        this.logger.warn(
          { error, queue: this.queue },
          'Messages could not be moved to another queue; will retry.',
        );
      }
      await delay(retryDelayMs, undefined, { ref: false });
    }
    return false;
  }

  /**
   * @returns true when each message is confirmed in a queue; false while nothing can be published
   * @throws Error when a message is not confirmed, or no queue receives it
   */
  private async tryPublish(messages: readonly OutgoingMessage[]): Promise<boolean> {
    const { publisher } = this;
    if (publisher?.isOpen !== true || this.publishing.blocked) return false;
    if (await publisher.publish(messages)) return true;
    throw new Error('No queue receives a message. Check that the shards and dead-letter queues exist.');
  }
}
