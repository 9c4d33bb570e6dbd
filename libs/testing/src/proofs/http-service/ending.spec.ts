/** The promises of libs/http-service about its end. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import request from 'supertest';
import { eventually } from '../../eventually.js';
import { type TokenMaker, tokenMaker } from '../../token-maker.js';
import { type SmallApi, smallApi } from './small-api.fixture.js';

describe('an API that is told to end', () => {
  let maker: TokenMaker;
  let api: SmallApi;
  let answer: () => void;
  let isAsked: () => void;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const held = new Promise<void>((resolve) => (answer = resolve));
  beforeAll(async () => {
    maker = await tokenMaker();
    const postgres = () => {
      isAsked();
      return held;
    };
    api = await smallApi(maker, { readiness: { postgres } });
  });
  afterAll(() => maker.stop());

  it('answers what it has in hand; connections kept alive, silent or within a request do not hold it up', async () => {
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
    await asked;
    const ended = api.stop();
    const refused = () =>
      request(api.url)
        .get('/health/live')
        .then(
          () => undefined,
          () => true,
        );
    await eventually(refused);
    answer();
    const { statusCode } = (await inHand).resume();
    expect(statusCode).toBe(200);
    await ended;
  }, 10_000);

  /** With this of a request, and no more. */
  async function connected(text: string): Promise<void> {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
  }
});
