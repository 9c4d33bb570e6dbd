import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { WebhookStores } from '../test/webhook-worker.fixture.js';

const page = z.object({ data: z.array(z.object({ id: z.string() })), next: z.string() });

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
  const read = async (round: number, query: string): Promise<z.output<typeof page>> => {
    const url = `${servers()[round % servers().length]?.url}/store/v1/events?${query}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return page.parse(await response.json());
  };
  let { next } = await read(0, 'wait=0');
  let isEnding = false;
  let isStopped = false;
  const readUntilEnd = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let round = 0; !isStopped; round += 1) {
      const events = await read(round, `wait=1&after=${next}`).catch(() => undefined);
      if (events === undefined) {
        await delay(20);
        continue;
      }
      if (events.data.length === 0 && isEnding) return ids;
      ids.push(...events.data.map(({ id }) => id));
      next = events.next;
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
