import type { MessageQueue, Topology } from '@fulfilment/contracts';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { confirmed } from './confirmed.js';

/** Header that says why a message was set aside. */
export const refusalReasonHeader = 'x-refusal-reason';

/** Header that says when. */
export const refusedAtHeader = 'x-refused-at';

/** Puts a message as it came into its queue's dead-letter queue, with the reason. Resolves when RabbitMQ has it. */
export async function publishDeadLetter(
  channel: ConfirmChannel,
  topology: Topology,
  queue: MessageQueue,
  raw: ConsumeMessage,
  reason: string,
): Promise<void> {
  const messageId: unknown = raw.properties.messageId;
  channel.publish(topology.deadLetterExchange(queue), topology.deadLetterQueue(queue), raw.content, {
    persistent: true,
    contentType: 'application/json',
    headers: { [refusalReasonHeader]: reason, [refusedAtHeader]: new Date().toISOString() },
    ...(typeof messageId === 'string' ? { messageId } : {}),
  });
  await confirmed(channel);
}
