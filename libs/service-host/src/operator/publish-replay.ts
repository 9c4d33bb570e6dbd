import type { Message, MessageQueue } from '@fulfilment/contracts';
import { ReplayQueue } from '@fulfilment/messaging';
import type { BrokerSettings } from './dead-letter-commands.js';

export interface ReplayResult {
  /** Number of published messages. */
  readonly told: number; // words: member of the command's output
  /** Absent if there were no messages. The queue is ordered, so its consumer applies this message last. */
  readonly last_message_id?: string;
}

/** Publishes pages of messages to the queue of one consumer, no faster than it consumes them. */
export async function publishReplay(
  settings: BrokerSettings,
  queue: MessageQueue,
  pages: AsyncIterable<readonly Message[]>,
): Promise<ReplayResult> {
  const replayQueue = await ReplayQueue.open(
    { url: settings.RABBITMQ_URL, namespace: settings.RABBITMQ_NAMESPACE },
    queue,
  );
  let published = 0;
  let last: string | undefined;
  try {
    for await (const page of pages) {
      await replayQueue.write(page);
      published += page.length;
      last = page.at(-1)?.id ?? last;
    }
  } finally {
    await replayQueue.close();
  }
  // words: member of the command's output
  return { told: published, ...(last !== undefined && { last_message_id: last }) };
}
