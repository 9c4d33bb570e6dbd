import type { Message, MessageQueue } from '@fulfilment/contracts';
import { ReplayQueue } from '@fulfilment/messaging';
import type { BrokerSettings } from './dead-letter-commands.js';

export interface ToldAgain {
  readonly told: number;
  /** When its consumer has applied this one, it has applied all; absent when there was nothing to tell. */
  readonly last_message_id?: string;
}

/** Writes pages of messages to one consumer's queue, no faster than it takes them. Nobody else hears of them. */
export async function tellAgain(
  settings: BrokerSettings,
  queue: MessageQueue,
  pages: AsyncIterable<readonly Message[]>,
): Promise<ToldAgain> {
  const to = await ReplayQueue.open(
    { url: settings.RABBITMQ_URL, namespace: settings.RABBITMQ_NAMESPACE },
    queue,
  );
  let told = 0;
  let last: string | undefined;
  try {
    for await (const page of pages) {
      await to.write(page);
      told += page.length;
      last = page.at(-1)?.id ?? last;
    }
  } finally {
    await to.close();
  }
  return { told, ...(last !== undefined && { last_message_id: last }) };
}
