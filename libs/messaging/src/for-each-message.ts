import type { Message } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { inContext, WorkContext } from '@fulfilment/runtime';

/** For handlers that take one message at a time: what they do, log and send goes on with its trace. */
export function each(
  handle: (tx: Transaction, message: Message) => Promise<void>,
): (tx: Transaction, messages: readonly Message[]) => Promise<void> {
  return async (tx, messages) => {
    for (const message of messages) {
      const context = new WorkContext({ message_id: message.id }, message.traceparent);
      await inContext(context, () => handle(tx, message));
    }
  };
}
