import type { Message, MessageQueue } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { ConsumerOptions } from './consumer.js';

/** Consumes one queue. A service starts all its providers of this class. */
export abstract class MessageConsumer implements ConsumerOptions {
  abstract readonly queue: MessageQueue;
  abstract readonly batchSize: number;

  /** Whether a message may share its transaction with other messages. */
  joinsBatch(_message: Message): boolean {
    return true;
  }

  abstract handle(tx: Transaction, messages: readonly Message[]): Promise<void>;
}
