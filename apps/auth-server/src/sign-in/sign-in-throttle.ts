import type { Quota, RedisConnection } from '@fulfilment/http-service';
import { createHash } from 'node:crypto';

/** Counts an attempt for an account and an address in one step; parallel guesses never get past the count. */
const countAttempt = `
local answer = {0, 0}
for index, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('EXPIRE', key, ARGV[2]) end
  if count > tonumber(ARGV[1]) then
    answer[1] = 1
    answer[2] = math.max(answer[2], redis.call('TTL', key))
  end
end
return answer
`;

/** Slows the guessing of passwords: so many failures per account and per address, then nothing until the window is over. */
export class SignInThrottle {
  constructor(
    private readonly redis: RedisConnection,
    private readonly failures: Quota,
  ) {}

  /**
   * Counts the attempt as a failure. Answers the seconds to wait when there were too many; while Redis is away there never are.
   * @param account the e-mail address that was typed, or what else is being guessed at
   */
  async attempt(account: string, ip: string): Promise<number | undefined> {
    const answer: unknown = await this.redis.ask('sign-in-throttle', (client) =>
      client.eval(
        countAttempt,
        2,
        accountKey(account),
        addressKey(ip),
        this.failures.requests,
        this.failures.windowSeconds,
      ),
    );
    if (!Array.isArray(answer)) return undefined;
    const [locked, waitSeconds] = answer.map(Number);
    return locked === 1 ? Math.max(1, waitSeconds ?? 1) : undefined;
  }

  /** The attempt was none after all: the account starts afresh, the address gets its one back. */
  async succeeded(account: string, ip: string): Promise<void> {
    await this.redis.ask('sign-in-throttle', (client) =>
      Promise.all([client.del(accountKey(account)), client.decr(addressKey(ip))]),
    );
  }
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
  return `sign-in:address:${ip}`;
}
