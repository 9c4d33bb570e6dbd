import type { RedisConnection } from '@fulfilment/http-service';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, raceAtMostMs } from './reuse.rules.js';
import { storedId } from './stored-models.rules.js';

/** ARGV: how long they are kept, in ms, then the times of each key. */
const noteAll = `for index, key in ipairs(KEYS) do redis.call('SET', key, ARGV[index + 1], 'PX', ARGV[1]) end`;
const notedTogetherMs = 3;
const waitAtMostMs = 500;
const lookAgainMs = 4;

/** When the answers to exchanges and refreshes left, for every replica. Known for as long as it can matter. */
export class SentAnswers {
  private unnoted = new Map<string, string>();

  constructor(private readonly redis: RedisConnection) {}

  /** Call before the answer is written that the token was consumed for: notes that, and when it has left. */
  noteWhenSent(response: ServerResponse, model: string, token: string): void {
    const writtenAtMs = Date.now();
    response.once('close', () => setImmediate(() => this.note(keyOf(model, token), writtenAtMs)));
  }

  /** When a token's answer was given; undefined if nobody knows. Waits a little for an answer that is just about to leave. */
  async of(model: string, token: string): Promise<Answered | undefined> {
    const waitUntil = Date.now() + waitAtMostMs;
    do {
      const found = await this.redis.ask('sent-answers', (client) => client.get(keyOf(model, token)));
      if (found === undefined) return undefined; // Redis is away
      if (found !== null) {
        const [writtenAtMs = Number.NaN, leftAtMs = Number.NaN] = found.split(' ').map(Number);
        return { writtenAtMs, leftAtMs };
      }
      await sleep(lookAgainMs);
    } while (Date.now() < waitUntil);
    return undefined;
  }

  /**
   * A turn of the event loop after an answer has left: what lay in our sockets then is read, and nobody answers an answer so fast. Those
   * of a few milliseconds go together; whoever asks waits longer.
   */
  private note(key: string, writtenAtMs: number): void {
    this.unnoted.set(key, `${writtenAtMs} ${Date.now()}`);
    if (this.unnoted.size === 1) setTimeout(() => void this.tell(), notedTogetherMs);
  }

  private async tell(): Promise<void> {
    const [keys, times] = [[...this.unnoted.keys()], [...this.unnoted.values()]];
    this.unnoted = new Map();
    await this.redis.ask('sent-answers', (client) =>
      client.eval(noteAll, keys.length, ...keys, 2 * raceAtMostMs, ...times),
    );
  }
}

function keyOf(model: string, token: string): string {
  return `answered:${model}:${storedId(model, token)}`;
}
