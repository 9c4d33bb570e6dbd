import type { Message, MessageQueue } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';

export interface ConsumerOptions {
  readonly queue: MessageQueue;
  /** Maximum number of messages handled in one transaction. */
  readonly batchSize: number;
  /**
   * Applies messages in order, in the same transaction as their inbox rows. Gets only messages that were not
   * handled before, so the list may be empty.
   */
  readonly handle: (tx: Transaction, messages: readonly Message[]) => Promise<void>;
  /** Whether a message may share its transaction with other messages. By default, all may. */
  readonly joinsBatch?: (message: Message) => boolean;
}

/** Consumer of one queue. A service consumes with each of its Nest providers that extends this class. */
export abstract class MessageConsumer implements ConsumerOptions {
  abstract readonly queue: MessageQueue;
  abstract readonly batchSize: number;

  joinsBatch(_message: Message): boolean {
    return true;
  }

  abstract handle(tx: Transaction, messages: readonly Message[]): Promise<void>;
}
