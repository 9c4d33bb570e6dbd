import { RedisConnection } from '@fulfilment/http-service/redis';
import { createLogger } from '@fulfilment/runtime';
import { eventually, storeUrl } from '@fulfilment/testing';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { DenyList } from './deny-list.js';

startServer();

const insertRevoked = testStatement(
  `INSERT INTO revoked_tokens (jti, expires_at) VALUES ($1, now() + interval '1 hour')`,
);

/** A Redis that accepts connections, but rejects every command, as when its memory is full. */
class FullRedis extends RedisConnection {
  commandCount = 0;
  override tryCommand(): Promise<undefined> {
    this.commandCount += 1;
    return Promise.resolve(undefined);
  }
}

describe('the deny list', () => {
  it('waits before it publishes again what Redis has rejected', async () => {
    await server.database.run(insertRevoked, [randomUUID()]);
    const logger = createLogger('test', 'fatal');
    const redis = new FullRedis({ REDIS_URL: storeUrl('TEST_REDIS_URL') }, logger);
    await once(redis.client, 'ready');
    const denyList = new DenyList(server.database, redis, logger);
    const startedAtMs = performance.now();
    denyList.start();
    await eventually(() => redis.commandCount >= 3);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_500); // two pauses of a second
    await denyList.stop();
    await redis.stop();
  });
});
