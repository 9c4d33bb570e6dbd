/** Tests of the shutdown in libs/http-service. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import request from 'supertest';
import { eventually, type TokenMaker, tokenMaker } from '@fulfilment/testing';
import { type SmallApi, smallApi } from './small-api.fixture.js';

describe('the shutdown of an API', () => {
  let maker: TokenMaker;
  let api: SmallApi;
  let endCheck: () => void;
  let onCheck: () => void;
  const checkStarted = new Promise<void>((resolve) => (onCheck = resolve));
  const held = new Promise<void>((resolve) => (endCheck = resolve));
  beforeAll(async () => {
    maker = await tokenMaker();
    const postgres = () => {
      onCheck();
      return held;
    };
    api = await smallApi(maker, { readiness: { postgres } });
  });
  afterAll(() => maker.stop());

  it('completes running requests, and closes idle, silent and incomplete connections', async () => {
    const halves = [
      '',
      'GET / HTTP/1.1\r\nHost: ',
      'POST /store/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
    ];
    await Promise.all(halves.map(connected));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const inHand = new Promise<IncomingMessage>((resolve, reject) => {
      get(`${api.url}/health/ready`, { agent }, resolve).on('error', reject);
    });
    await checkStarted;
    const ended = api.stop();
    const rejected = () =>
      request(api.url)
        .get('/health/live')
        .then(
          () => undefined,
          () => true,
        );
    await eventually(rejected);
    endCheck();
    const { statusCode } = (await inHand).resume();
    expect(statusCode).toBe(200);
    await ended;
  });

  /** Opens a connection and sends the beginning of a request. */
  async function connected(text: string): Promise<void> {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
  }
});
