import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { WebhookStores } from '../test/webhook-worker.fixture.js';

const pageSchema = z.object({ data: z.array(z.object({ id: z.string() })), next: z.string() });

/**
 * Begins the feed of a creator, and reads it: each request goes to the next of the servers, and reads the
 * events after those that earlier requests have read.
 */
export async function followFeed(
  stores: WebhookStores,
  creatorId: string,
  servers: () => readonly { readonly url: string }[],
) {
  const token = await stores.tokens.token({
    creator_id: creatorId,
    client_id: 'feed',
    scope: 'webhooks:read',
  });
  const read = async (round: number, query: string): Promise<z.output<typeof pageSchema>> => {
    const url = `${servers()[round % servers().length]?.url}/store/v1/events?${query}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return pageSchema.parse(await response.json());
  };
  let { next } = await read(0, 'wait=0');
  let isEnding = false;
  let isStopped = false;
  const readUntilEnd = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let round = 0; !isStopped; round += 1) {
      const page = await read(round, `wait=1&after=${next}`).catch(() => undefined);
      if (page === undefined) {
        // The replica was killed: the next round reads from another one.
        await delay(20);
        continue;
      }
      if (page.data.length === 0 && isEnding) return ids;
      ids.push(...page.data.map(({ id }) => id));
      next = page.next;
    }
    return ids;
  };
  const reading = readUntilEnd();
  return {
    /** Reads the rest of the feed. Returns the ids of all its events, in order. */
    end: (): Promise<string[]> => {
      isEnding = true;
      return reading;
    },
    /** Ends the reading, also if no server responds. */
    stop: (): void => {
      isStopped = true;
    },
  };
}

export type FollowedFeed = Awaited<ReturnType<typeof followFeed>>;
