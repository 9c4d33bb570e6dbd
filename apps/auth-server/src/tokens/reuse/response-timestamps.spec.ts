import { RedisConnection } from '@fulfilment/http-service/redis';
import { createLogger } from '@fulfilment/runtime';
import { listen, storeUrl } from '@fulfilment/testing';
import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, get } from 'node:http';
import { connect, createServer } from 'node:net';
import { arrivalOf, recordArrival } from './request-arrivals.js';
import { ResponseTimestampStore } from './response-timestamps.js';

describe('the timestamps of a response', () => {
  let redis: RedisConnection;
  beforeAll(async () => {
    const settings = { REDIS_URL: storeUrl('TEST_REDIS_URL') };
    redis = new RedisConnection(settings, createLogger('test', 'fatal'), { commandTimeoutMs: 30_000 });
    await once(redis.client, 'ready');
  });
  afterAll(() => redis.stop());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('are later than the arrival of a request that was in a socket when the response was sent', async () => {
    let nowMs = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => (nowMs += 1)); // so that all times are different
    const store = new ResponseTimestampStore(redis);
    const token = randomUUID();
    // The response is sent in a callback of this socket, as after a COMMIT: the event loop reads the second
    // request only afterwards.
    const echoServer = await listen(createServer((socket) => socket.pipe(socket)));
    const arrived = Promise.withResolvers<number | undefined>();
    const server = createHttpServer((request, response) => {
      recordArrival(request);
      if (request.url === '/concurrent') {
        arrived.resolve(arrivalOf(request)?.arrivedAtMs);
        response.end();
        return;
      }
      store.recordWhenSent(response, 'RefreshToken', token);
      const commit = connect(echoServer.port, '127.0.0.1');
      commit.write('COMMIT');
      commit.once('data', () => {
        concurrent.write('GET /concurrent HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
        response.end();
        commit.destroy();
      });
    });
    const { port, close } = await listen(server);
    const concurrent = connect(port, '127.0.0.1');
    await once(server, 'connection');
    get({ port, host: '127.0.0.1', agent: false }).on('response', (response) => response.resume());
    const arrivedAtMs = await arrived.promise;
    expect((await store.find('RefreshToken', token))?.sentAtMs).toBeGreaterThan(arrivedAtMs ?? Infinity);
    concurrent.destroy();
    await Promise.all([close(), echoServer.close()]);
  });
});
