import { DeadLetterQueues, isMessageQueue, queueNames } from '@fulfilment/messaging';
import { z } from 'zod';
import { operatorCommand, type OperatorCommands } from './operator-command.js';

/** What the commands need of a service's settings. */
export interface BrokerSettings {
  readonly RABBITMQ_URL: string;
  readonly RABBITMQ_NAMESPACE: string;
}

interface BrokerSite {
  readonly settings: BrokerSettings;
}

const queue = z.string('is missing').refine(isMessageQueue, `must be one of ${queueNames().join(', ')}`);
const limits = 'must be from 1 to 1000';
/** In place of a message's id. */
const everyLetter = 'all';
const letter = z.string('is missing').min(1, 'must not be empty');

/** Looking through the dead letters of every queue of the suite, sending them again, throwing them away. */
export const deadLetterCommands: OperatorCommands<BrokerSite> = {
  'dead-letters list': operatorCommand({
    flags: { queue: 'text', limit: 'text' },
    arguments: z.object({
      queue: queue.optional(),
      limit: z.coerce.number(limits).int(limits).min(1, limits).max(1000, limits).default(50),
    }),
    run: (site: BrokerSite, { queue: only, limit }) =>
      withQueues(site, async (queues) => {
        const wanted = only === undefined ? queueNames() : [only];
        const found = [];
        for (const name of wanted)
          found.push({ queue: name, waiting: await queues.count(name), letters: await queues.list(name) });
        return {
          queues: found.map(({ queue, waiting }) => ({ queue, waiting })),
          letters: found.flatMap(({ letters }) => letters.slice(0, limit)),
        };
      }),
  }),
  'dead-letters show': operatorCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: letter }),
    run: (site: BrokerSite, { QUEUE, MESSAGE }) =>
      withQueues(site, async (queues) => {
        return (await queues.find(QUEUE, MESSAGE)) ?? missing(QUEUE);
      }),
  }),
  'dead-letters replay': operatorCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: letter }),
    run: (site: BrokerSite, { QUEUE, MESSAGE }) =>
      withQueues(site, async (queues) => {
        if (MESSAGE === everyLetter) return { queue: QUEUE, replayed: await queues.replay(QUEUE) };
        const replayed = await queues.replay(QUEUE, MESSAGE);
        return replayed.length === 0 ? missing(QUEUE) : { queue: QUEUE, replayed };
      }),
  }),
  'dead-letters discard': operatorCommand({
    operands: ['QUEUE', 'MESSAGE'],
    arguments: z.object({ QUEUE: queue, MESSAGE: letter }),
    run: (site: BrokerSite, { QUEUE, MESSAGE }) =>
      withQueues(site, async (queues) => {
        const discarded = await queues.discard(QUEUE, MESSAGE);
        return discarded.length === 0 ? missing(QUEUE) : { queue: QUEUE, discarded };
      }),
  }),
};

async function withQueues<Result>(
  { settings }: BrokerSite,
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
  throw new Error(`There is no such message in the dead letters of ${queue}.`);
}
