import type { RedisConnection } from '@fulfilment/http-service';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { raceAtMostMs } from './reuse.rules.js';
import { storedId } from './stored-models.rules.js';

const waitAtMostMs = 500;
const lookAgainMs = 4;

/** When the answers to exchanges and refreshes left, for every replica. Known for as long as it can matter. */
export class SentAnswers {
  constructor(private readonly redis: RedisConnection) {}

  /** Notes when the answer that the token was consumed for has left. */
  noteWhenSent(response: ServerResponse, model: string, token: string): void {
    response.once('close', () => void this.note(keyOf(model, token)));
  }

  /** When it left; undefined if nobody knows. Waits a little for an answer that is just about to leave. */
  async sentAt(model: string, token: string): Promise<number | undefined> {
    const waitUntil = Date.now() + waitAtMostMs;
    do {
      const found = await this.redis.ask('sent-answers', (client) => client.get(keyOf(model, token)));
      if (found === undefined) return undefined; // Redis is away
      if (found !== null) return Number(found);
      await sleep(lookAgainMs);
    } while (Date.now() < waitUntil);
    return undefined;
  }

  /** What lay in our sockets when the answer left is read within this turn of the event loop; nobody answers an answer so fast. */
  private async note(key: string): Promise<void> {
    await nextTurn();
    const sentAt = String(Date.now());
    await this.redis.ask('sent-answers', (client) => client.set(key, sentAt, 'PX', 2 * raceAtMostMs));
  }
}

function keyOf(model: string, token: string): string {
  return `answered:${model}:${storedId(model, token)}`;
}
