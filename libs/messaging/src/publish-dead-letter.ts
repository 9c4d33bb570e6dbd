import type { MessageQueue, Topology } from '@fulfilment/contracts';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { waitForConfirmation } from './wait-for-confirmation.js';

/** Header with the reason for the rejection. */
export const rejectionReasonHeader = 'x-refusal-reason';

/** Header with the time of the rejection. */
export const rejectedAtHeader = 'x-refused-at';

const replayedAtHeader = 'x-replayed-at';

/** Headers of a dead letter that an operator replays. */
export function replayHeaders(): Record<string, string> {
  return { [replayedAtHeader]: new Date().toISOString() };
}

/** Whether an operator replayed the message, after a check of its effect. */
export function isReplayed({ properties }: Pick<ConsumeMessage, 'properties'>): boolean {
  return properties.headers?.[replayedAtHeader] !== undefined;
}

/**
 * Publishes an unchanged message to its dead-letter queue, with the reason. Resolves when RabbitMQ has
 * confirmed it.
 */
export async function publishDeadLetter(
  channel: ConfirmChannel,
  topology: Topology,
  queue: MessageQueue,
  raw: Pick<ConsumeMessage, 'content'> & { readonly properties: { readonly messageId?: unknown } },
  reason: string,
): Promise<void> {
  const { messageId } = raw.properties;
  channel.publish(topology.deadLetterExchange(queue), topology.deadLetterQueue(queue), raw.content, {
    persistent: true,
    contentType: 'application/json',
    headers: { [rejectionReasonHeader]: reason, [rejectedAtHeader]: new Date().toISOString() },
    ...(typeof messageId === 'string' ? { messageId } : {}),
  });
  await waitForConfirmation(channel);
}
