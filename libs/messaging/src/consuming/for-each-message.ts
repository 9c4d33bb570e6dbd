import type { Message } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { inContext, WorkContext } from '@fulfilment/runtime';
import { traceOf } from '../message-spans.js';

/**
 * Adapts a handler of single messages. Its log lines have the id and trace of the message; the messages that
 * it writes continue the trace.
 */
export function forEachMessage(
  handle: (tx: Transaction, message: Message) => Promise<void>,
): (tx: Transaction, messages: readonly Message[]) => Promise<void> {
  return async (tx, messages) => {
    for (const message of messages) {
      const context = new WorkContext({ message_id: message.id }, message.traceparent, traceOf(message));
      await inContext(context, () => handle(tx, message));
    }
  };
}
