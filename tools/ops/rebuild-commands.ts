import { z } from 'zod';
import { waitUntilApplied } from './applied.ts';
import { command } from './command.ts';
import { operate } from './operate.ts';
import type { RunningSuite } from './running-suite.ts';

const told = z.object({ told: z.number(), last_message_id: z.string().optional() });

/** Who told it all, and how many. @throws Failure when creator-api does not take it */
async function republish(suite: RunningSuite, service: string, what: string): Promise<number> {
  const result = told.parse(await operate(suite, service, [what, 'republish']));
  if (result.last_message_id !== undefined)
    await waitUntilApplied(suite, 'creator-api', result.last_message_id);
  return result.told;
}

/** Sums and counts that are kept beside what they sum and count. */
async function rebuildSums(suite: RunningSuite) {
  return {
    statistics: await operate(suite, 'creator-api', ['statistics', 'rebuild']),
    order_counts: await operate(suite, 'creator-api', ['order-counts', 'rebuild']),
  };
}

export const rebuildCommands = [
  command(['creator', 'rebuild'], {
    usage: '',
    arguments: z.object({}),
    run: async (suite) => {
      await rebuildSums(suite); // what is added to them in the next steps adds to what is there
      const creators = await republish(suite, 'auth-server', 'creators');
      const orders = await republish(suite, 'store-api', 'orders');
      return { creators, orders, ...(await rebuildSums(suite)) };
    },
  }),
];
