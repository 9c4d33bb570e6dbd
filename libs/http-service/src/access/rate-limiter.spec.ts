import { RateLimiter } from '../index.js';
import { RedisConnection } from '../redis/redis.js';
import { createLogger } from '@fulfilment/runtime';
import { randomUUID } from 'node:crypto';
import { storeUrl } from '@fulfilment/testing';

const logger = createLogger('test', 'fatal');

class CountedRedis extends RedisConnection {
  commands = 0;
  override tryCommand<Result>(
    use: string,
    command: (client: RedisConnection['client']) => Promise<Result>,
  ): Promise<Result | undefined> {
    this.commands += 1;
    return super.tryCommand(use, command);
  }
}

describe('RateLimiter', () => {
  const started: RedisConnection[] = [];
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
  });
  afterEach(() => Promise.all(started.splice(0).map((redis) => redis.stop())));

  /** A replica with a clock that only the test advances. Redis's clock runs, so windows are long. */
  async function startReplica(requests: number, windowSeconds = 100_000_000) {
    const settings = { REDIS_URL: storeUrl('TEST_REDIS_URL') };
    const redis = new CountedRedis(settings, logger, { commandTimeoutMs: 30_000 });
    started.push(redis);
    await new Promise((resolve) => redis.client.once('ready', resolve));
    const limiter = new RateLimiter(redis, { calls: { requests, windowSeconds } }, () => nowMs);
    return { redis, take: (client: string) => limiter.take('calls', client) };
  }
  type Replica = Awaited<ReturnType<typeof startReplica>>;

  /** Sends requests to the replicas one after another. Returns how many each replica allowed. */
  async function sendInTurn(count: number, client: string, ...replicas: Replica[]): Promise<number[]> {
    const allowed = replicas.map(() => 0);
    for (let request = 0; request < count; request += 1) {
      const index = request % replicas.length;
      const decision = await replicas[index]?.take(client);
      if (decision?.allowed === true) allowed[index] = (allowed[index] ?? 0) + 1;
    }
    return allowed;
  }

  it('allows exactly the quota to sequential and to concurrent requests', async () => {
    const replica = await startReplica(500);
    expect(await sendInTurn(600, randomUUID(), replica)).toEqual([500]);
    const client = randomUUID();
    const decisions = await Promise.all(Array.from({ length: 600 }, () => replica.take(client)));
    expect(decisions.filter((decision) => decision?.allowed === true)).toHaveLength(500);
  });

  it('returns the remaining quota and the time of its reset with each request', async () => {
    const replica = await startReplica(200, 200_000); // one permit in 1,000 seconds
    const client = randomUUID();
    const startedAtMs = performance.now();
    for (let left = 199; left >= -1; left -= 1) {
      const decision = await replica.take(client);
      expect(decision).toMatchObject({ allowed: left >= 0, remaining: Math.max(left, 0) });
      const elapsedSeconds = Math.ceil((performance.now() - startedAtMs) / 1_000);
      const usedPermits = Math.min(200 - left, 200);
      const expectTime = (seconds: number | undefined, atStart: number) => {
        expect(seconds).toBeLessThanOrEqual(atStart);
        expect(seconds).toBeGreaterThanOrEqual(atStart - elapsedSeconds);
      };
      expectTime(decision?.resetSeconds, usedPermits * 1_000);
      if (left > 0) expect(decision?.retryAfterSeconds).toBe(0);
      else expectTime(decision?.retryAfterSeconds, 1_000);
    }
  });

  it('allows three replicas together exactly the quota, and each of them more than a quarter', async () => {
    const replicas = [await startReplica(2_000), await startReplica(2_000), await startReplica(2_000)];
    const [first = 0, second = 0, third = 0] = await sendInTurn(3_000, randomUUID(), ...replicas);
    expect(first + second + third).toBe(2_000);
    for (const allowed of [first, second, third]) expect(allowed).toBeGreaterThan(500);
  });

  it('calls Redis less than once in 100 requests of a frequent client, and for each request of a rare one', async () => {
    const replica = await startReplica(100_000);
    await sendInTurn(2_000, randomUUID(), replica);
    expect(replica.redis.commands).toBeLessThan(20);
    const [before, client] = [replica.redis.commands, randomUUID()];
    for (let request = 0; request < 10; request += 1, nowMs += 1_000) await replica.take(client);
    expect(replica.redis.commands - before).toBe(10);
  });

  it('reserves up to 1 % of the quota, and at most a tenth of what is left of it', async () => {
    const replica = await startReplica(1_000);
    const client = randomUUID();
    let largestReserve = 0;
    for (let left = 1_000; left > 0; left -= 1) {
      const { remaining = 0 } = (await replica.take(client)) ?? {};
      const inRedis = Number(await replica.redis.client.hget(`rate:calls:${client}`, 'tokens'));
      const reserve = remaining - Math.floor(inRedis);
      expect(reserve).toBeLessThanOrEqual(left / 10);
      largestReserve = Math.max(largestReserve, reserve);
    }
    expect(largestReserve).toBe(10);
  });

  it('uses reserved permits for 100 ms', async () => {
    const replica = await startReplica(1_000);
    const client = randomUUID();
    await sendInTurn(100, client, replica);
    nowMs += 100;
    await replica.take(client); // reserves as many permits as were used of the last ones, more than one
    const before = replica.redis.commands;
    nowMs += 99;
    await replica.take(client);
    expect(replica.redis.commands).toBe(before);
    nowMs += 1;
    await replica.take(client);
    expect(replica.redis.commands).toBe(before + 1);
  });

  it('gives Redis back the permits that a replica reserved and did not use', async () => {
    const replica = await startReplica(1_000);
    const client = randomUUID();
    await sendInTurn(100, client, replica);
    nowMs += 1_000; // longer than the permits are valid, so the next request returns them
    expect(await replica.take(client)).toMatchObject({ allowed: true, remaining: 899 });
    const otherReplica = await startReplica(1_000);
    expect(await otherReplica.take(client)).toMatchObject({ allowed: true, remaining: 898 });
  });

  it('makes no decision when Redis is down', async () => {
    const unreachable = new RedisConnection({ REDIS_URL: 'redis://127.0.0.1:1/0' }, logger);
    started.push(unreachable);
    const limiter = new RateLimiter(unreachable, { calls: { requests: 1, windowSeconds: 60 } });
    expect(await Promise.all([limiter.take('calls', 'a'), limiter.take('calls', 'a')])).toEqual([
      undefined,
      undefined,
    ]);
  });
});
