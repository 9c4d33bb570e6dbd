import type { Message } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';

/** For handlers that take one message at a time. */
export function each(
  handle: (tx: Transaction, message: Message) => Promise<void>,
): (tx: Transaction, messages: readonly Message[]) => Promise<void> {
  return async (tx, messages) => {
    for (const message of messages) await handle(tx, message);
  };
}
