import { z } from 'zod';
import { waitForOutcome } from './wait-for-outcome.ts';
import { operate } from './operate.ts';
import type { OperatorAccess } from './operator-access.ts';

// words: `told` is a public member of the command's output
const replayed = z.object({ told: z.number(), last_message_id: z.string().optional() });

/**
 * Runs a replay, and waits until creator-api has applied it. Returns the number of messages.
 * @throws Failure if creator-api does not apply the last message
 */
async function republish(access: OperatorAccess, service: string, noun: string): Promise<number> {
  const result = replayed.parse(await operate(access, service, [noun, 'republish']));
  if (result.last_message_id !== undefined)
    await waitForOutcome(access, 'creator-api', result.last_message_id);
  return result.told; // words: public output
}

const rebuilt = z.object({ rows: z.number(), differed: z.number() });
type Rebuilt = z.infer<typeof rebuilt>;
type RebuiltSums = Readonly<Record<'statistics' | 'order_counts', Rebuilt>>;

/** Rebuilds the sums and counts that are stored in addition to their source rows. */
async function rebuildSums(access: OperatorAccess): Promise<RebuiltSums> {
  return {
    statistics: rebuilt.parse(await operate(access, 'creator-api', ['statistics', 'rebuild'])),
    order_counts: rebuilt.parse(await operate(access, 'creator-api', ['order-counts', 'rebuild'])),
  };
}

/** Combines two rebuilds: `rows` is the number after the second, `differed` adds the corrections of both. */
export function combineRebuilds(before: RebuiltSums, after: RebuiltSums): RebuiltSums {
  const sum = (name: keyof RebuiltSums): Rebuilt => ({
    rows: after[name].rows,
    differed: before[name].differed + after[name].differed,
  });
  return { statistics: sum('statistics'), order_counts: sum('order_counts') };
}

/** Replays creators and orders to creator-api, and rebuilds its sums before and after that. */
export async function rebuildCreatorApi(access: OperatorAccess): Promise<Record<string, unknown>> {
  const before = await rebuildSums(access); // corrects the sums to which the replays add
  const creators = await republish(access, 'auth-server', 'creators');
  const orders = await republish(access, 'store-api', 'orders');
  return { creators, orders, ...combineRebuilds(before, await rebuildSums(access)) };
}
