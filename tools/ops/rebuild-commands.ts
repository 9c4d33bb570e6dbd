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

const rebuilt = z.object({ rows: z.number(), differed: z.number() });
export type Rebuilt = z.infer<typeof rebuilt>;
/** Of sums and counts that are kept beside what they sum and count. */
export type RebuiltSums = Readonly<Record<'statistics' | 'order_counts', Rebuilt>>;

async function rebuildSums(suite: RunningSuite): Promise<RebuiltSums> {
  return {
    statistics: rebuilt.parse(await operate(suite, 'creator-api', ['statistics', 'rebuild'])),
    order_counts: rebuilt.parse(await operate(suite, 'creator-api', ['order-counts', 'rebuild'])),
  };
}

/** How many rows there are in the end, and how many were wrong: most drift is found, and put right, before anything is told again. */
export function bothTimes(before: RebuiltSums, after: RebuiltSums): RebuiltSums {
  const sum = (which: keyof RebuiltSums): Rebuilt => ({
    rows: after[which].rows,
    differed: before[which].differed + after[which].differed,
  });
  return { statistics: sum('statistics'), order_counts: sum('order_counts') };
}

export const rebuildCommands = [
  command(['creator', 'rebuild'], {
    usage: '',
    arguments: z.object({}),
    run: async (suite) => {
      const before = await rebuildSums(suite); // what is added to them in the next steps adds to what is there
      const creators = await republish(suite, 'auth-server', 'creators');
      const orders = await republish(suite, 'store-api', 'orders');
      return { creators, orders, ...bothTimes(before, await rebuildSums(suite)) };
    },
  }),
];
