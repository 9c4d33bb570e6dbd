import { RateLimiter } from '../index.js';
import { RedisConnection } from './redis.js';
import { createLogger, resolveWithin } from '@fulfilment/runtime';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { eventually, flakyProxy, listen, storeUrl } from '@fulfilment/testing';

describe('RedisConnection', () => {
  it('resolves every command within half a second while connections break, and then recovers', async () => {
    const proxy = await flakyProxy(storeUrl('TEST_REDIS_URL'));
    const redis = new RedisConnection({ REDIS_URL: proxy.url }, createLogger('test', 'fatal'));
    const limiter = new RateLimiter(redis, { calls: { requests: 1, windowSeconds: 60 } });
    await eventually(() => limiter.take('calls', randomUUID())); // Redis knows the script from now on
    let lateCommands = 0;
    let isCalling = true;
    const call = async () => {
      while (isCalling) {
        const commands = Promise.all([
          limiter.take('calls', randomUUID()),
          redis.tryCommand('test', (client) => client.exists(randomUUID())),
        ]);
        // Measured by a timer, because a pause of this process also delays the timeouts of the commands.
        await resolveWithin(500, commands, () => (lateCommands += 1));
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const callers = Array.from({ length: 8 }, call);
    for (let outage = 0; outage < 10; outage += 1) {
      if (outage % 2 === 0) proxy.disconnect();
      else proxy.sever();
      for (let ping = 0; ping < 20; ping += 1) await redis.tryCommand('test', (client) => client.ping());
      proxy.restore();
      await eventually(() => redis.tryCommand('test', (client) => client.ping()));
    }
    isCalling = false;
    await Promise.all(callers);
    expect(lateCommands).toBe(0);
    await redis.stop();
    await proxy.stop();
  });

  it('logs an error when a command fails', async () => {
    const lines: string[] = [];
    const logger = createLogger('test', 'error', { write: (line) => void lines.push(line) });
    const redis = new RedisConnection({ REDIS_URL: 'redis://127.0.0.1:1/0' }, logger);
    // At once, before the connection fails, which would be logged instead.
    expect(await redis.tryCommand('rate-limit', (client) => client.ping())).toBeUndefined();
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'error', use: 'rate-limit', message: 'Redis does not respond; continuing without it.' },
    ]);
    await redis.stop();
  });

  it('is ready soon after Redis has loaded its data, however long Redis expected that to take', async () => {
    let isLoading = true;
    let loadingReplies = 0;
    // A fake Redis: it replies to INFO whether it is loading, and OK to other commands. A command begins with
    // its number of words (`*2`).
    const server = createServer((socket) => {
      socket.on('data', (chunk) => {
        for (const command of chunk
          .toString()
          .split(/^\*\d+\r\n/m)
          .slice(1)) {
          const info = `loading:${isLoading ? 1 : 0}\r\nloading_eta_seconds:60\r\n`;
          const isInfo = /\r\ninfo\r\n/i.test(command);
          socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
          if (isInfo && isLoading) loadingReplies += 1;
        }
      });
      socket.on('error', () => undefined);
    });
    const { port, close } = await listen(server);
    const redis = new RedisConnection(
      { REDIS_URL: `redis://127.0.0.1:${port}` },
      createLogger('test', 'fatal'),
    );
    await eventually(() => loadingReplies > 0);
    isLoading = false;
    // By default, ioredis would wait for 10 s.
    await eventually(() => redis.client.status === 'ready', { timeoutMs: 8_000 });
    await redis.stop();
    await close();
  });

  it('connects with both passwords of its user during a rotation, and stays connected when one is removed', async () => {
    const logger = createLogger('test', 'fatal');
    const user = `rotated-${randomUUID()}`;
    const admin = new RedisConnection({ REDIS_URL: storeUrl('TEST_REDIS_URL') }, logger);
    const acl = (...rules: string[]) => admin.client.call('ACL', 'SETUSER', user, ...rules);
    const connect = (password: string): RedisConnection => {
      const url = new URL(storeUrl('TEST_REDIS_URL'));
      return new RedisConnection(
        { REDIS_URL: Object.assign(url, { username: user, password }).href },
        logger,
      );
    };
    const responds = (redis: RedisConnection) => redis.tryCommand('test', (client) => client.ping());
    await eventually(() => responds(admin));
    await acl('on', '>older', '~*', '+@all');
    const before = connect('older');
    await eventually(() => responds(before));
    await acl('>newer');
    const [during, after] = [connect('older'), connect('newer')];
    await eventually(() => responds(during));
    await eventually(() => responds(after));
    await acl('<older');
    expect(await Promise.all([before, during, after].map(responds))).toEqual(['PONG', 'PONG', 'PONG']);
    const removed = connect('older');
    await eventually(() => removed.client.status === 'reconnecting');
    expect(await responds(removed)).toBeUndefined();
    await Promise.all([before, during, after, removed].map((redis) => redis.stop()));
    await admin.client.call('ACL', 'DELUSER', user);
    await admin.stop();
  });
});
