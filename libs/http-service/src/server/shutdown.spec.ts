import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import request from 'supertest';
import { eventually } from '@fulfilment/testing';
import { type SmallApi, smallApi } from '../small-api.fixture.js';

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

  async function sendOnNewConnection(text: string): Promise<void> {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
  }
});
