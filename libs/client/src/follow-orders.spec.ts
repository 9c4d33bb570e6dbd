import { createCreatorClient, followOrders } from './creator.js';
import { failure, FakeApi, hangUp, type Reply } from './fake-api.fixture.js';

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

const sent = (event: string, id: string, data: object = {}): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
/** Sends the events, and then ends the response, breaks the connection, or sends nothing more. */
const stream =
  (then: 'ends' | 'breaks' | 'waits', ...events: readonly string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events.join(''), () => {
      if (then === 'ends') response.end();
      if (then === 'breaks') response.destroy();
    });
  };

/** Returns the first events, by the UUID of their order or else by name. */
async function follow(count: number, lastEventId?: string, timeoutMs = 30_000): Promise<string[]> {
  const client = createCreatorClient({ ...api.options(), timeoutMs });
  const events: string[] = [];
  const resumed = lastEventId === undefined ? {} : { lastEventId };
  for await (const event of followOrders({ client, creator: 'c', reconnectDelayMs: 0, ...resumed })) {
    events.push(event.event === 'order.created' ? event.order.uuid : event.event);
    if (events.length === count) break;
  }
  return events;
}
const lastEventIds = () => api.requests.map(({ headers }) => headers['last-event-id']);

describe('followOrders', () => {
  it('yields events as they arrive, and skips comments and unknown events', async () => {
    const created = sent('order.created', '2', { uuid: 'o1' });
    api.reply(
      stream(
        'waits',
        'retry: 1000\n',
        sent('open', '1'),
        ': heartbeat\n\n',
        sent('order.paid', '1'),
        created,
      ),
    );
    expect(await follow(2)).toEqual(['open', 'o1']);
    expect(api.requests[0]?.url).toBe('/api/v1/order-stream?creator=c');
  });

  it.each([
    ['ends', 'ends', 30_000],
    ['breaks', 'breaks', 30_000],
    ['sends nothing, not even a heartbeat, until the timeout', 'waits', 1_000],
  ] as const)('continues after the last event when a stream %s', async (_what, then, timeoutMs) => {
    const first = stream(then, sent('open', '1'), sent('order.created', '2', { uuid: 'o1' }));
    const second = stream('waits', sent('open', '2'), sent('order.created', '3', { uuid: 'o2' }));
    api.reply((response, received) => {
      const reply = received.headers['last-event-id'] === '2' ? second : first;
      reply(response, received);
    });
    expect(await follow(4, '0', timeoutMs)).toEqual(['open', 'o1', 'open', 'o2']);
    // Without duplicates: a request whose response is slow is repeated.
    expect([...new Set(lastEventIds())]).toEqual(['0', '2']);
  });

  it('reconnects after more failures than a request has retries, and throws when the creator is not visible', async () => {
    // A request has three retries, so the fifth failure is that of another request.
    const fiveFailures = Array.from({ length: 5 }, () => hangUp);
    api.reply(stream('ends', sent('open', '1')), ...fiveFailures, failure(404, 'NOT_FOUND'));
    await expect(follow(2)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(api.requests).toHaveLength(1 + 5 + 1);
  });

  it('throws when the first connection fails', async () => {
    api.reply(hangUp);
    await expect(follow(1)).rejects.toThrow('The connection to the server failed.');
  });

  it('throws at a response that is not a stream, such as a page of a proxy', async () => {
    const page: Reply = (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
    api.reply(stream('ends', sent('open', '1')), page);
    await expect(follow(2)).rejects.toMatchObject({ statusCode: 200, code: 'UNEXPECTED_RESPONSE' });
  });

  it('reconnects after 0.5 to 1.5 times the delay, so that not all programs do so at the same time', async () => {
    api.reply(stream('ends', sent('open', '1')));
    const waitsMs: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waitsMs.push(ms));
    const random = (): number => waitsMs.length; // 0, then 1
    const client = createCreatorClient(api.options());
    const events = followOrders({ client, creator: 'c', reconnectDelayMs: 100, wait, random });
    for (const _connection of [1, 2, 3]) await events.next();
    await events.return();
    expect(waitsMs).toEqual([50, 150]);
  });

  it('also waits for the Retry-After of an error', async () => {
    // After a shorter time the client itself repeats the request (`maxRetryAfterMs`).
    const tooMany = failure(429, 'RATE_LIMITED', { 'retry-after': '90' });
    api.reply(stream('ends', sent('open', '1')), tooMany, stream('ends', sent('open', '1')));
    const waitsMs: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waitsMs.push(ms));
    const client = createCreatorClient(api.options());
    const events = followOrders({ client, creator: 'c', reconnectDelayMs: 100, wait, random: () => 0 });
    for (const _connection of [1, 2]) await events.next();
    await events.return();
    expect(waitsMs).toEqual([50, 90_050]);
  });

  it("throws the signal's reason when the caller aborts during the wait before the next connection", async () => {
    api.reply(stream('ends', sent('open', '1')));
    const controller = new AbortController();
    const reason = new Error('The person left.');
    const random = (): number => {
      setImmediate(() => controller.abort(reason));
      return 0;
    };
    const client = createCreatorClient(api.options());
    const { signal } = controller;
    const events = followOrders({ client, creator: 'c', signal, random, reconnectDelayMs: 600_000 });
    await events.next();
    await expect(events.next()).rejects.toBe(reason);
  });

  it("throws the signal's reason when the caller aborts during the wait for an event", async () => {
    api.reply(stream('waits', sent('open', '1')));
    const controller = new AbortController();
    const reason = new Error('The person left.');
    const client = createCreatorClient(api.options());
    const events = followOrders({ client, creator: 'c', signal: controller.signal });
    await events.next();
    controller.abort(reason);
    await expect(events.next()).rejects.toBe(reason);
  });
});
