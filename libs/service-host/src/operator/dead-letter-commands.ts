import { DeadLetterQueues, isMessageQueue, queueNames } from '@fulfilment/messaging';
import { z } from 'zod';
import { defineCommand, limitArgument, textArgument, type Commands } from './define-command.js';

/** The settings that the commands need. */
export interface BrokerSettings {
  readonly RABBITMQ_URL: string;
  readonly RABBITMQ_NAMESPACE: string;
}

interface BrokerContext {
  readonly settings: BrokerSettings;
}

const queueArgument = z
  .string('is missing')
  .refine(isMessageQueue, `must be one of ${queueNames().join(', ')}`);

/** The operand `MESSAGE` that stands for every message of the queue. */
const allMessages = 'all';

/** Commands to list, show, replay and discard dead letters of every queue of the suite. */
export const deadLetterCommands: Commands<BrokerContext> = {
  'dead-letters list': defineCommand({
    summary: 'lists rejected messages with their reasons, at most NUMBER of each queue',
    options: ['--queue <QUEUE>', '--limit <NUMBER>'],
    arguments: z.object({ queue: queueArgument.optional(), limit: limitArgument(50) }),
    run: (context: BrokerContext, { queue: selected, limit }) =>
      withQueues(context, async (queues) => {
        const counts = [];
        const letters = [];
        for (const queue of selected === undefined ? queueNames() : [selected]) {
          counts.push({ queue, waiting: await queues.count(queue) });
          letters.push(...(await queues.list(queue)).slice(0, limit));
        }
        return { queues: counts, letters };
      }),
  }),
  'dead-letters show': defineCommand({
    summary: 'shows a rejected message',
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queueArgument, MESSAGE: textArgument() }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(
        context,
        async (queues) => (await queues.find(QUEUE, MESSAGE)) ?? throwMessageMissing(QUEUE),
      ),
  }),
  'dead-letters replay': defineCommand({
    summary: 'returns a message, or `all`, to its queue; a message that was applied is not applied twice',
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queueArgument, MESSAGE: textArgument() }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(context, async (queues) => {
        if (MESSAGE === allMessages) return { queue: QUEUE, replayed: await queues.replay(QUEUE) };
        const replayed = await queues.replay(QUEUE, MESSAGE);
        return replayed.length === 0 ? throwMessageMissing(QUEUE) : { queue: QUEUE, replayed };
      }),
  }),
  'dead-letters discard': defineCommand({
    summary: 'deletes a rejected message',
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queueArgument, MESSAGE: textArgument() }),
    run: (context: BrokerContext, { QUEUE, MESSAGE }) =>
      withQueues(context, async (queues) => {
        const discarded = await queues.discard(QUEUE, MESSAGE);
        return discarded.length === 0 ? throwMessageMissing(QUEUE) : { queue: QUEUE, discarded };
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

function throwMessageMissing(queue: string): never {
  throw new Error(`The dead-letter queue of ${queue} has no such message.`);
}
