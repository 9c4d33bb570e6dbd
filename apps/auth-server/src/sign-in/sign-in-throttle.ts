import { clientNetwork, type Quota, type RedisConnection } from '@fulfilment/http-service';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * KEYS: per subject its failures and its tries under way. In one step, so parallel guesses never get past the count: a try begins only
 * when it could fail without passing it. Answers 0 (begun), 1 (others are under way) or 2 (too many failed), and the seconds to wait.
 */
const beginTry = `
local state, wait = 0, 0
for index = 1, #KEYS, 2 do
  local failed = tonumber(redis.call('GET', KEYS[index]) or '0')
  local trying = tonumber(redis.call('GET', KEYS[index + 1]) or '0')
  if failed >= tonumber(ARGV[1]) then
    state = 2
    wait = math.max(wait, redis.call('TTL', KEYS[index]))
  elseif failed + trying >= tonumber(ARGV[1]) then
    state = math.max(state, 1)
  end
end
if state == 0 then
  for index = 2, #KEYS, 2 do
    redis.call('INCR', KEYS[index])
    redis.call('EXPIRE', KEYS[index], ARGV[2])
  end
end
return {state, wait}
`;
/** ARGV: how it ended, and the window of failures in seconds. A right one lets the first subject, the account, start afresh. */
const endTry = `
for index = 1, #KEYS, 2 do
  if tonumber(redis.call('GET', KEYS[index + 1]) or '0') > 0 then redis.call('DECR', KEYS[index + 1]) end
  if ARGV[1] == 'wrong' and redis.call('INCR', KEYS[index]) == 1 then redis.call('EXPIRE', KEYS[index], ARGV[2]) end
end
if ARGV[1] == 'right' then redis.call('DEL', KEYS[1]) end
`;
/** A process that died leaves its tries under way for so long. */
const tryAtMostSeconds = 30;
const waitForOthersMs = 10_000;
const askAgainMs = 50;

/** What became of a guess: too many were wrong before it, or it was wrong, or it was right. */
export type Guess<Found> =
  | { readonly kind: 'locked'; readonly waitSeconds: number }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'right'; readonly found: Found };

/** Slows the guessing of passwords: so many failures per account and per address, then nothing until the window is over. */
export class SignInThrottle {
  constructor(
    private readonly redis: RedisConnection,
    private readonly failures: Quota,
  ) {}

  /**
   * Looks at a guess unless too many have failed; while Redis is away there never are. When the guesses under way could all fail, it
   * waits for them. One that could not be looked at counts for nothing.
   * @param account the e-mail address that was typed, or what else is being guessed at
   * @param look answers what was found behind a right guess, undefined for a wrong one
   */
  async guess<Found>(
    account: string,
    ip: string,
    look: () => Promise<Found | undefined>,
  ): Promise<Guess<Found>> {
    const waitSeconds = await this.waitOrBegin(account, ip);
    if (waitSeconds !== undefined) return { kind: 'locked', waitSeconds };
    let ending: 'right' | 'wrong' | 'unknown' = 'unknown';
    try {
      const found = await look();
      ending = found === undefined ? 'wrong' : 'right';
      return found === undefined ? { kind: 'wrong' } : { kind: 'right', found };
    } finally {
      await this.end(account, ip, ending);
    }
  }

  /** Begins a try, or answers the seconds to wait before the next. */
  private async waitOrBegin(account: string, ip: string): Promise<number | undefined> {
    const endsAtMs = performance.now() + waitForOthersMs;
    for (;;) {
      const [state, waitSeconds] = await this.begin(account, ip);
      if (state === 0) return undefined;
      if (state === 2) return Math.max(1, waitSeconds);
      if (performance.now() > endsAtMs) return 1;
      await sleep(askAgainMs);
    }
  }

  private async begin(account: string, ip: string): Promise<readonly [state: number, waitSeconds: number]> {
    const keys = keysOf(account, ip);
    const answer: unknown = await this.redis.ask('sign-in-throttle', (client) =>
      client.eval(beginTry, keys.length, ...keys, this.failures.requests, tryAtMostSeconds),
    );
    if (!Array.isArray(answer)) return [0, 0];
    return [Number(answer[0]), Number(answer[1])];
  }

  private async end(account: string, ip: string, ending: 'right' | 'wrong' | 'unknown'): Promise<void> {
    const keys = keysOf(account, ip);
    await this.redis.ask('sign-in-throttle', (client) =>
      client.eval(endTry, keys.length, ...keys, ending, this.failures.windowSeconds),
    );
  }
}

function keysOf(account: string, ip: string): string[] {
  return [accountKey(account), addressKey(ip)].flatMap((key) => [key, `${key}:trying`]);
}

function accountKey(account: string): string {
  return `sign-in:account:${createHash('sha256').update(account.toLowerCase()).digest('base64url')}`;
}

/** Codes of a second factor are counted apart: a right password must not give more guesses. */
export function codesOf(userId: string): string {
  return `second-factor:${userId}`;
}

/** How long to wait, for people. */
export function waitInWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Wait ${minutes} minute${minutes === 1 ? '' : 's'} before you try again.`;
}

function addressKey(ip: string): string {
  return `sign-in:address:${clientNetwork(ip).network}`;
}
