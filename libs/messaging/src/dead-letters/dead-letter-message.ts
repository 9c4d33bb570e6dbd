import type { MessageQueue, Topology } from '@fulfilment/contracts';
import type { ConsumeMessage } from 'amqplib';
import type { OutgoingMessage } from '../broker/confirmed-publisher.js';

/** Header with the reason for the rejection. */
export const rejectionReasonHeader = 'x-refusal-reason';

/** Header with the time of the rejection. */
export const rejectedAtHeader = 'x-refused-at';

const replayedAtHeader = 'x-replayed-at';

/** Headers of a dead letter that an operator replays. */
export function replayHeaders(): Record<string, string> {
  return { [replayedAtHeader]: new Date().toISOString() };
}

/** Whether an operator replayed the message. */
export function isReplayed({ properties }: Pick<ConsumeMessage, 'properties'>): boolean {
  return properties.headers?.[replayedAtHeader] !== undefined;
}

/** Returns a rejected message, unchanged and with the reason, for its dead-letter queue. */
export function deadLetterOf(
  topology: Topology,
  queue: MessageQueue,
  { content, properties }: Pick<ConsumeMessage, 'content'> & { properties: { messageId?: unknown } },
  reason: string,
): OutgoingMessage {
  return {
    exchange: topology.deadLetterExchange(queue),
    routingKey: topology.deadLetterQueue(queue),
    content,
    messageId: properties.messageId,
    headers: { [rejectionReasonHeader]: reason, [rejectedAtHeader]: new Date().toISOString() },
  };
}
