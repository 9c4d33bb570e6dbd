import type { Message, MessageQueue } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';

/** Consumer of one queue. A Nest provider that extends this class is registered when its service starts. */
export abstract class MessageConsumer {
  abstract readonly queue: MessageQueue;
  /** Maximum number of messages handled in one transaction. */
  abstract readonly batchSize: number;

  /** Whether a message may share its transaction with other messages. */
  mayShareTransaction(_message: Message): boolean {
    return true;
  }

  /**
   * Applies messages in order, in the same transaction as their inbox rows. Gets only messages that were not
   * applied before, so the list may be empty.
   */
  abstract handle(tx: Transaction, messages: readonly Message[]): Promise<void>;
}
