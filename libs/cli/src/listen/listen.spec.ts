import { createStoreClient } from '@fulfilment/client/store';
import { verifyWebhook } from '@fulfilment/client/webhooks';
import { eventually, freePort } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import {
  FakeSuite,
  type LocalServer,
  type ReceivedRequest,
  serve,
  temporaryDir,
} from '../fake-suite.fixture.js';
import { followFeed } from './follow-feed.js';
import { listen, type ListenOptions } from './listen.js';
import { openSuite } from '../session/session.js';

let dir: ReturnType<typeof temporaryDir>;
let suite: FakeSuite & LocalServer;
let receiver: LocalServer;
let received: ReceivedRequest[];
let status: number;
/** Functions that end the listeners of a test. */
const stops: (() => Promise<void>)[] = [];

/** Starts a receiver that records its requests and responds with `status`. */
const startReceiver = (port: number): Promise<LocalServer> =>
  serve((request, response) => {
    received.push(request);
    response.writeHead(status).end();
  }, port);

beforeEach(async () => {
  dir = temporaryDir();
  received = [];
  status = 204;
  suite = await FakeSuite.start();
  receiver = await startReceiver(await freePort());
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await suite.stop();
  await receiver.stop().catch(() => undefined);
  dir.remove();
});

const event = (number: number, name = 'order.created') => ({
  id: `evt_${number}`,
  api_version: '2026-11-01',
  created_at: '2026-11-21T09:30:00.000Z',
  event: name,
  data: { order_id: `ord_${number}` },
});
const ids = () => received.map(({ headers }) => headers['webhook-id']);
/** Waits for at least `count` events. Returns the ids of all that were received. */
const arrived = (count: number) => eventually(() => (received.length >= count ? ids() : undefined));

/** Starts a listener; resolves when it is ready, and rejects if it fails before. */
async function start(options: Partial<ListenOptions> = {}) {
  const results: string[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  let resend: () => void = () => undefined;
  const ready = Promise.withResolvers<void>();
  const defaults = { events: [], from: 'saved', name: 'default', json: true, token: 'valid' } as const;
  const ended = listen(
    openSuite(suite.url, { FULFILMENT_CONFIG_DIR: dir.path }),
    { ...defaults, forwardTo: `${receiver.url}/hook`, ...options },
    {
      result: (line) => results.push(line),
      note: (line) => {
        notes.push(line);
        if (line.startsWith('Listening')) ready.resolve();
      },
    },
    { signal: stop.signal, registerResend: (callback) => (resend = callback) },
  );
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  stops.push(end);
  await Promise.race([ended, ready.promise]);
  return { results, notes, ended, end, resend: () => resend() };
}

describe('listen', () => {
  it('forwards the bytes of an event with headers that our verifier and that of Standard Webhooks accept', async () => {
    const { notes } = await start();
    suite.publish(event(1, 'order.shipped'));
    await arrived(1);
    const [request] = received;
    if (request === undefined) throw new Error('nothing arrived');
    const { headers, body } = request;
    expect(body).toBe(JSON.stringify(event(1, 'order.shipped')));
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'order.shipped',
      'x-service-attempt': '1',
      'x-service-delivery': 'whd_1',
    });
    const secret = /secret (whsec_\S+)\./.exec(notes.join())?.[1] ?? '';
    expect(verifyWebhook({ headers, body: Buffer.from(body) }, { secrets: [secret] }).id).toBe('evt_1');
    const standard = {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    };
    expect(new Webhook(secret).verify(body, standard)).toMatchObject({ id: 'evt_1' });
  });

  it('skips events from before its first start, loses none while it is not running, and keeps its secret', async () => {
    suite.publish(event(1), event(2), event(3));
    const first = await start();
    suite.publish(event(4));
    await eventually(() => first.results.length === 1); // otherwise the second listener repeats the attempt
    await first.end();
    suite.publish(event(5), event(6), event(7));
    const second = await start();
    expect(await arrived(4)).toEqual(['evt_4', 'evt_5', 'evt_6', 'evt_7']);
    expect(second.notes).toEqual(first.notes); // the note contains the secret
  });

  it('sends an event after a restart if it was stopped before the receiver could be reached', async () => {
    await receiver.stop();
    const first = await start();
    suite.publish(event(1));
    await eventually(() => first.notes.find((note) => note.includes('cannot be reached')));
    await first.end();
    receiver = await startReceiver(receiver.port);
    await start();
    expect(await arrived(1)).toEqual(['evt_1']);
  });

  it('waits for a receiver that is not running', async () => {
    await receiver.stop();
    const { notes } = await start();
    suite.publish(event(1), event(2));
    await eventually(() => notes.find((note) => note.includes('cannot be reached')));
    receiver = await startReceiver(receiver.port);
    expect(await arrived(2)).toEqual(['evt_1', 'evt_2']);
  });

  it('continues after an error response, and resends the last event on request', async () => {
    status = 500;
    const { results, resend } = await start();
    suite.publish(event(1), event(2));
    await eventually(() => results.length === 2);
    status = 200;
    resend();
    expect(await arrived(3)).toEqual(['evt_1', 'evt_2', 'evt_2']);
    expect(received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '1', '2']);
    expect(received[2]?.body).toBe(received[1]?.body);
    const lines = await eventually(() => (results.length === 3 ? results : undefined));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { id: 'evt_1', status: 500, attempt: 1, data: { order_id: 'ord_1' } },
      { id: 'evt_2', status: 500, attempt: 1 },
      { id: 'evt_2', status: 200, attempt: 2 },
    ]);
  });

  it('reports the number of each attempt when it resends an event whose first response is late', async () => {
    const responses: ServerResponse[] = [];
    const late = await serve((_request, response) => void responses.push(response));
    const { results, resend } = await start({ forwardTo: late.url });
    suite.publish(event(1));
    await eventually(() => responses.length === 1);
    resend();
    await eventually(() => responses.length === 2);
    for (const [index, response] of responses.entries()) {
      response.writeHead(200 + index).end();
      await eventually(() => results.length === index + 1);
    }
    expect(results.map((line) => JSON.parse(line))).toMatchObject([
      { status: 200, attempt: 1 },
      { status: 201, attempt: 2 },
    ]);
    await late.stop();
  });

  it('forwards only the chosen events', async () => {
    await start({ events: ['product.*', 'order.shipped'] });
    suite.publish(event(1), event(2, 'product.in_stock'), event(3), event(4, 'order.shipped'), event(5));
    expect(await arrived(2)).toEqual(['evt_2', 'evt_4']);
  });

  it('rejects the name of an unknown event', async () => {
    await expect(start({ events: ['order.eaten'] })).rejects.toThrow('Unknown event "order.eaten"');
    stops.pop(); // it has ended already
  });

  it('prints all events, the oldest first, if it has no receiver and begins with the oldest', async () => {
    suite.publish(event(1), event(2), event(3));
    const { results } = await start({ from: 'oldest', forwardTo: undefined, json: false });
    const lines = await eventually(() => (results.length === 3 ? results : undefined));
    expect(lines[0]).toMatch(/^[\d:.]+ {2}order\.created +evt_1$/);
  });

  it('fails at a position that is no longer valid, instead of skipping events', async () => {
    const first = await start();
    await first.end();
    suite.oldestValid = 1;
    const second = await start();
    stops.pop(); // it ends by itself
    await expect(second.ended).rejects.toThrow('no longer valid');
  });
});

describe('followFeed', () => {
  /** Follows the feed until the first position is saved. The outage ends at the third wait for a retry. */
  async function follow(accessToken: string) {
    const notes: string[] = [];
    const handled: string[] = [];
    const stop = new AbortController();
    let waits = 0;
    await followFeed({
      // Without retries of the client, so that the test sees those of `followFeed`.
      client: createStoreClient({ baseUrl: `${suite.url}/store`, auth: accessToken, maxRetries: 0 }),
      after: '0',
      skipOld: false,
      savePosition: () => stop.abort(),
      onReady: () => suite.publish(event(1)),
      handle: ({ id }) => Promise.resolve(void handled.push(id)),
      note: (line) => notes.push(line),
      waitForRetry: () => {
        waits += 1;
        suite.isFeedDown = waits < 3;
        return Promise.resolve();
      },
      signal: stop.signal,
    });
    return { notes, handled };
  }

  it('continues after an outage of the suite, and notes its beginning and its end once', async () => {
    suite.isFeedDown = true;
    expect(await follow('valid')).toEqual({
      handled: ['evt_1'],
      notes: [expect.stringContaining('Retrying'), 'The suite responds.'],
    });
  });

  it('throws an error at once if a retry cannot succeed', async () => {
    await expect(follow('wrong')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(suite.requests).toEqual(['/store/v1/events']);
  });
});
