import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import request from 'supertest';
import { eventually, listen } from '@fulfilment/testing';
import { type SmallApi, smallApi } from '../small-api.fixture.js';
import { limitConnectionsWhenClosing } from './close-connections.js';

describe('the shutdown of an API', () => {
  let api: SmallApi;
  const checkStarted = Promise.withResolvers<void>();
  const checkReleased = Promise.withResolvers<void>();
  beforeAll(async () => {
    const postgres = () => {
      checkStarted.resolve();
      return checkReleased.promise;
    };
    api = await smallApi({ readiness: { postgres } });
  });

  it('completes running requests, and ends in spite of idle, silent and incomplete connections', async () => {
    const incompleteRequests = [
      '',
      'GET / HTTP/1.1\r\nHost: ',
      'POST /store/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
    ];
    await Promise.all(incompleteRequests.map(sendOnNewConnection));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const running = new Promise<IncomingMessage>((resolve, reject) => {
      get(`${api.url}/health/ready`, { agent }, resolve).on('error', reject);
    });
    await checkStarted.promise;
    const ended = api.stop();
    const isUnreachable = () =>
      request(api.url)
        .get('/health/live')
        .then(
          () => false,
          () => true,
        );
    await eventually(isUnreachable);
    checkReleased.resolve();
    const { statusCode } = (await running).resume();
    expect([200, 503]).toContain(statusCode); // 503 if the check took longer than its limit
    await ended;
  });

  it('breaks a download off that takes longer than other requests, so that the service can end', async () => {
    const server = createServer((_request, response) => void response.write('the first part'));
    limitConnectionsWhenClosing(server);
    const { port } = await listen(server);
    const connected = once(server, 'connection');
    const [download] = await once(get(`http://127.0.0.1:${port}`), 'response');
    const [socket] = await connected;
    const brokenOff = once(download.resume(), 'error');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
    try {
      const ended = new Promise((resolve) => server.close(resolve));
      jest.advanceTimersByTime(16_999);
      expect(socket.destroyed).toBe(false);
      jest.advanceTimersByTime(1);
      expect(socket.destroyed).toBe(true);
      expect((await brokenOff)[0]).toMatchObject({ code: 'ECONNRESET' });
      await ended;
    } finally {
      jest.useRealTimers();
    }
  });

  async function sendOnNewConnection(text: string): Promise<void> {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
  }
});
