import { type Message, messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { createDataSource, Database, statement } from '@fulfilment/database';
import { patientTimeouts, untilLockWaits } from '@fulfilment/database/testing';
import { Cleanup } from '@fulfilment/service-host';
import { RateLimited, ServiceUnavailable } from '@fulfilment/error-envelope';
import { eventually, publishedMessages } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { EventsConsumer } from '../fan-out/events.consumer.js';
import { FanOut } from '../fan-out/fan-out.js';
import { anOrder } from '../test/snapshots.fixture.js';
import { aClient, orderCreated, ordersCreated, startWorker } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { maxWaitSeconds } from './feed.dto.js';
import { deleteUnreadFeeds, openFeed } from './feed-positions.js';
import { WaitingReaders } from './waiting-readers.js';

const given = setUpWorker();

/** Stops the cleanup: the tests delete batches of unread feeds themselves. */
beforeAll(() => given.worker.app.get(Cleanup).stop());

const readBodies = statement('test.read-bodies', 'SELECT body FROM webhook_events WHERE creator_id = $1');
const resetPositions = statement(
  'test.reset-positions',
  'UPDATE webhook_event_feeds SET last_position = 0 WHERE creator_id = $1',
);
const makeUnread = statement(
  'test.make-unread',
  `UPDATE webhook_event_feeds SET read_at = now() - $2 * interval '1 day' WHERE creator_id = $1`,
);

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly next: string;
  readonly has_more: boolean;
}
type Client = Awaited<ReturnType<typeof aClient>>;

const { client, fanOut } = given;
const requestEvents = (
  { token }: Pick<Client, 'token'>,
  query = '',
  server: string | object = given.worker.server,
) => request(Object(server)).get(`/store/v1/events${query}`).auth(token, { type: 'bearer' });
/** Reads a page. The first read of a creator begins its feed. */
const read = async (reader: Client, query = ''): Promise<Page> =>
  (await requestEvents(reader, query).expect(200)).body;
const idsOf = ({ data }: Page): string[] => data.map(({ id }) => id);
const publicIdOf = (message: Message): string => publicId('evt', message.id);

/** Reads all pages after a position. */
async function readAll(reader: Client, limit: number, after?: string): Promise<Page['data']> {
  const page = await read(reader, `?limit=${limit}${after === undefined ? '' : `&after=${after}`}`);
  return page.data.length === 0 ? [] : [...page.data, ...(await readAll(reader, limit, page.next))];
}

describe('the event feed', () => {
  it.each(publishedMessages('webhook-worker.events').map((message) => [message.type, message] as const))(
    'has %s as earlier versions published it',
    async (type, message) => {
      const creator = z.object({ creator_id: z.string() });
      const subject = z.union([z.object({ order: creator }), z.object({ product: creator })]);
      const [creatorClaim] = Object.values(subject.parse(message.data));
      const reader = await client(creatorClaim);
      await read(reader);
      await given.stores.database.transaction((tx) =>
        given.worker.app.get(EventsConsumer).handle(tx, [message]),
      );
      expect((await read(reader)).data).toContainEqual(
        expect.objectContaining({ id: publicIdOf(message), event: type }),
      );
    },
  );

  it('has the events that deliveries have, with the same bytes and each once, if messages arrive twice and late', async () => {
    const reader = await client();
    await reader.subscribe(given.receiver.url, ['*']);
    await read(reader);
    const order = anOrder(reader.creatorId);
    const late = new Date(Date.now() - 3 * 86_400_000);
    const sentMessages = [
      ...ordersCreated(reader.creatorId, 20),
      messages.orderProcessing.make(
        { order: { ...order, version: 2, status: 'processing' } },
        { occurredAt: late },
      ),
      messages.orderCancelled.make(
        { order: { ...order, version: 3, status: 'cancelled' }, reason: 'schlüssel 語' },
        { occurredAt: new Date() },
      ),
      { ...orderCreated(reader.creatorId), id: uuidv7(late), occurred_at: late.toISOString() },
    ];
    await given.publish(...sentMessages, ...sentMessages.toReversed());
    const seen = new Set<string>();
    const delivered = await eventually(() => {
      for (const { rawBody } of given.receiver.deliveries) seen.add(rawBody.toString());
      return seen.size === sentMessages.length ? [...seen] : undefined;
    });
    await fanOut(...sentMessages); // a copy that the inbox no longer knows
    const events = await readAll(reader, 7);
    expect(events.map((event) => JSON.stringify(event)).toSorted()).toEqual(delivered.toSorted());
  });

  it('does not skip an event whose transaction commits after later ones were read', async () => {
    const reader = await client();
    await read(reader);
    const [early, later] = [orderCreated(reader.creatorId), orderCreated(reader.creatorId)];
    const open = await given.stores.database.begin();
    await given.worker.app.get(FanOut).run(open.tx, [early]);
    await fanOut(later);
    const first = await read(reader);
    expect(idsOf(first)).toEqual([publicIdOf(later)]);
    await open.commit();
    expect(idsOf(await read(reader, `?after=${first.next}`))).toEqual([publicIdOf(early)]);
    expect(idsOf(await read(reader))).toEqual([publicIdOf(later), publicIdOf(early)]);
  });

  it('returns the events in the same sequence to all readers, also during concurrent writes and reads', async () => {
    const reader = await client();
    await read(reader);
    const [writerCount, eventsPerWriter] = [6, 10];
    const sentMessages = ordersCreated(reader.creatorId, writerCount * eventsPerWriter);
    const follow = async (): Promise<string[]> => {
      const seen: string[] = [];
      let after = '';
      while (seen.length < sentMessages.length) {
        const page = await read(reader, `?limit=9${after}`);
        seen.push(...idsOf(page));
        after = `&after=${page.next}`;
      }
      return seen;
    };
    const writes = Array.from({ length: writerCount }, async (_, writer) => {
      const start = writer * eventsPerWriter;
      for (const message of sentMessages.slice(start, start + eventsPerWriter)) await fanOut(message);
    });
    const [first, second, third] = await Promise.all([follow(), follow(), follow(), ...writes]);
    expect(first?.toSorted()).toEqual(sentMessages.map(publicIdOf).toSorted());
    expect([second, third]).toEqual([first, first]);
    expect(idsOf(await read(reader, '?limit=100'))).toEqual(first);
  });

  it('continues after a restored backup without skipping an event', async () => {
    const reader = await client();
    await read(reader);
    await fanOut(orderCreated(reader.creatorId));
    const { next } = await read(reader);
    await given.stores.database.run(resetPositions, [reader.creatorId]);
    const message = orderCreated(reader.creatorId);
    await fanOut(message);
    expect(idsOf(await read(reader, `?after=${next}`))).toEqual([publicIdOf(message)]);
  });

  it('keeps no event of a creator without a feed and without a subscription', async () => {
    const { creatorId } = await client();
    await fanOut(orderCreated(creatorId));
    expect(await given.stores.database.rows(readBodies, [creatorId])).toEqual([]);
  });

  it('ends after 30 days without a reader, and rejects its positions from then on', async () => {
    const reader = await client();
    const { next } = await read(reader);
    await given.stores.database.run(makeUnread, [reader.creatorId, 29]);
    expect(await deleteUnreadFeeds(given.stores.database)).toBe(0);
    await given.stores.database.run(makeUnread, [reader.creatorId, 31]);
    expect(await deleteUnreadFeeds(given.stores.database)).toBe(1);
    const { body } = await requestEvents(reader, `?after=${next}`).expect(400);
    expect(body.details).toEqual([{ field: 'after', reason: 'is not a position of this feed' }]);
    expect((await read(reader)).data).toEqual([]);
  });

  it('begins with the events that an earlier feed kept, and without those that only a subscription kept', async () => {
    const reader = await client();
    await reader.subscribe(given.receiver.url);
    await fanOut(orderCreated(reader.creatorId));
    expect((await read(reader)).data).toEqual([]);
    const [isRead, isUnread] = [orderCreated(reader.creatorId), orderCreated(reader.creatorId)];
    await fanOut(isRead);
    await read(reader);
    await fanOut(isUnread);
    await given.stores.database.run(makeUnread, [reader.creatorId, 31]);
    await deleteUnreadFeeds(given.stores.database);
    expect(idsOf(await read(reader))).toEqual([isRead, isUnread].map(publicIdOf));
  });

  it('does not end if it is read just before its deletion', async () => {
    const reader = await client();
    const { next } = await read(reader);
    await given.stores.database.run(makeUnread, [reader.creatorId, 31]);
    const reading = await given.stores.database.begin();
    await openFeed(reading.tx, reader.creatorId);
    const deleting = deleteUnreadFeeds(given.stores.database);
    await untilLockWaits(given.stores.database, { query: 'DELETE FROM webhook_event_feeds%' });
    await reading.commit();
    expect(await deleting).toBe(0);
    await requestEvents(reader, `?after=${next}`).expect(200);
  });

  it('shows a creator its own events only, and accepts no position of another creator', async () => {
    const [mine, foreign] = [await client(), await client()];
    await Promise.all([read(mine), read(foreign)]);
    await fanOut(orderCreated(foreign.creatorId));
    const theirs = await read(foreign);
    expect(theirs.data).toHaveLength(1);
    expect((await read(mine)).data).toEqual([]);
    const { body } = await requestEvents(mine, `?after=${theirs.next}`).expect(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'after' }] });
  });

  it('needs the scope webhooks:read and a connected creator', async () => {
    expect((await requestEvents(await client({ scope: 'webhooks:create' })).expect(403)).body.code).toBe(
      'FORBIDDEN',
    );
    expect((await requestEvents(await client({ creator_id: undefined })).expect(404)).body.code).toBe(
      'NOT_FOUND',
    );
  });

  it.each([
    ['wait=21', 'wait'],
    ['wait=-1', 'wait'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['after=1', 'after'],
  ])('rejects the query %s', async (query, field) => {
    const { body } = await requestEvents(await client(), `?${query}`).expect(400);
    expect(body.details).toEqual([expect.objectContaining({ field })]);
  });
});

describe('a request that waits for events', () => {
  const untilWaiting = (count: number, worker = given.worker) =>
    eventually(() => worker.app.get(WaitingReaders).count === count);

  it('returns a new event, also if another waiting request reads it first', async () => {
    const reader = await client();
    await read(reader);
    const pages = [read(reader, '?wait=20'), read(reader, '?wait=20')];
    await untilWaiting(2);
    const message = orderCreated(reader.creatorId);
    await given.publish(message);
    expect((await Promise.all(pages)).map(idsOf)).toEqual([[publicIdOf(message)], [publicIdOf(message)]]);
  });

  it('returns no events and the same position after its timeout', async () => {
    const reader = await client();
    const { next } = await read(reader);
    const startedAtMs = performance.now();
    expect(await read(reader, `?wait=1&after=${next}`)).toEqual({ data: [], next, has_more: false });
    expect(performance.now() - startedAtMs).toBeGreaterThan(950); // a timer may fire early
  });

  it('is rejected with 429 while four others of its client wait for the same creator', async () => {
    const [reader, other] = [await client(), await client()];
    await Promise.all([read(reader), read(other)]);
    const pages = Array.from({ length: 4 }, () => read(reader, '?wait=20'));
    await untilWaiting(4);
    const { body, headers } = await requestEvents(reader, '?wait=20').expect(429);
    expect([body.code, headers['retry-after']]).toEqual(['RATE_LIMITED', '1']);
    pages.push(read(other, '?wait=20'));
    await untilWaiting(4 + 1);
    await fanOut(orderCreated(reader.creatorId), orderCreated(other.creatorId));
    for (const page of await Promise.all(pages)) expect(page.data).toHaveLength(1);
  });

  it('is rejected with 429 while twenty of any clients wait for its creator, and with 503 while 500 wait in all', async () => {
    const readers = given.worker.app.get(WaitingReaders);
    const leaving = new AbortController();
    const wait = (creatorId: string, clientId: string) =>
      readers.wait({ creatorId, position: 0, clientId, timeoutMs: 20_000, signal: leaving.signal });
    const creatorId = randomUUID();
    const waits = Array.from({ length: 20 }, (_, n) => wait(creatorId, `client ${n}`));
    await expect(wait(creatorId, 'another client')).rejects.toThrow(RateLimited);
    while (readers.count < 500) waits.push(wait(randomUUID(), 'client'));
    await expect(wait(randomUUID(), 'client')).rejects.toThrow(ServiceUnavailable);
    leaving.abort();
    await Promise.all(waits);
    expect(readers.count).toBe(0);
  });

  it('ends when its client disconnects', async () => {
    const reader = await client();
    await read(reader);
    const page = requestEvents(reader, '?wait=20');
    const ended = page.catch(() => undefined);
    await untilWaiting(1);
    page.abort();
    await untilWaiting(0);
    await ended;
  });

  it('holds no connection to the database, and ends with a response when the service stops', async () => {
    const source = createDataSource({
      url: given.stores.url,
      poolSize: 1,
      ...patientTimeouts,
      applicationName: 'test',
      migrations: [],
    });
    const worker = await startWorker(
      given.stores,
      {},
      {
        database: new Database(await source.initialize()),
        background: given.stores.database,
      },
    );
    const reader = await aClient(given.stores, worker);
    await requestEvents(reader, '', worker.server).expect(200);
    const pages = [1, 2, 3].map(() =>
      requestEvents(reader, '?wait=20', worker.server).then(({ status, body }) => [status, body.data]),
    );
    await untilWaiting(3, worker);
    await reader.get().expect(200);
    const stopping = worker.stop();
    expect(await Promise.all(pages)).toEqual([1, 2, 3].map(() => [200, []]));
    await stopping;
    await source.destroy();
  });

  it('waits for less time than the gateway waits for a response', async () => {
    const path = join(import.meta.dirname, '../../../../deploy/gateway/nginx.conf.template');
    const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(await readFile(path, 'utf8')) ?? [];
    expect(maxWaitSeconds).toBeLessThan(Number(seconds));
  });
});
