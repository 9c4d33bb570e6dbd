import { DeadLetterQueues, isMessageQueue, queueNames } from '@fulfilment/messaging';
import { z } from 'zod';
import { defineCommand, type Commands } from './define-command.js';

/** The settings that the commands need. */
export interface BrokerSettings {
  readonly RABBITMQ_URL: string;
  readonly RABBITMQ_NAMESPACE: string;
}

interface BrokerContext {
  readonly settings: BrokerSettings;
}

const queue = z.string('is missing').refine(isMessageQueue, `must be one of ${queueNames().join(', ')}`);
const limits = 'must be from 1 to 1000';
/** Used in place of a message id. */
const allMessages = 'all';
const messageId = z.string('is missing').min(1, 'must not be empty');

/** Commands to list, show, replay and discard dead letters of every queue of the suite. */
export const deadLetterCommands: Commands<BrokerContext> = {
  'dead-letters list': defineCommand({
    flags: { queue: 'text', limit: 'text' },
    arguments: z.object({
      queue: queue.optional(),
      limit: z.coerce.number(limits).int(limits).min(1, limits).max(1000, limits).default(50),
    }),
    run: (context: BrokerContext, { queue: only, limit }) =>
      withQueues(context, async (queues) => {
        const selected = only === undefined ? queueNames() : [only];
        const found = [];
        for (const name of selected)
          found.push({ queue: name, waiting: await queues.count(name), letters: await queues.list(name) });
        return {
          queues: found.map(({ queue, waiting }) => ({ queue, waiting })),
          letters: found.flatMap(({ letters }) => letters.slice(0, limit)),
        };
      }),
  }),
  'dead-letters show': defineCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: messageId }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(context, async (queues) => {
        return (await queues.find(QUEUE, MESSAGE)) ?? missing(QUEUE);
      }),
  }),
  'dead-letters replay': defineCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: messageId }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(context, async (queues) => {
        if (MESSAGE === allMessages) return { queue: QUEUE, replayed: await queues.replay(QUEUE) };
        const replayed = await queues.replay(QUEUE, MESSAGE);
        return replayed.length === 0 ? missing(QUEUE) : { queue: QUEUE, replayed };
      }),
  }),
  'dead-letters discard': defineCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: messageId }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(context, async (queues) => {
        const discarded = await queues.discard(QUEUE, MESSAGE);
        return discarded.length === 0 ? missing(QUEUE) : { queue: QUEUE, discarded };
      }),
  }),
};

async function withQueues<Result>(
  { settings }: BrokerContext,
  work: (queues: DeadLetterQueues) => Promise<Result>,
): Promise<Result> {
  const queues = await DeadLetterQueues.open({
    url: settings.RABBITMQ_URL,
    namespace: settings.RABBITMQ_NAMESPACE,
  });
  try {
    return await work(queues);
  } finally {
    await queues.close();
  }
}

function missing(queue: string): never {
  throw new Error(`The dead-letter queue of ${queue} has no such message.`);
}
