import { type CreatorSnapshot, revokedTokenKey, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { RateLimited, ServiceUnavailable } from '@fulfilment/error-envelope';
import { LOGGER } from '@fulfilment/runtime';
import { eventually, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { anOrder, paid } from '../orders/order-snapshot.fixture.js';
import { projectOrders } from '../orders/project-orders.js';
import { creatorApi, type CreatorApi, ownerClaims } from '../test/creator-api.fixture.js';
import { deleteOldFeeds, OrderFeeds } from './order-feeds.js';
import { ActiveStreams } from './active-streams.job.js';
import { heartbeatMs } from './stream-orders.js';

const backdateEntries = statement(
  'test.backdate-entries',
  `UPDATE order_feed_entries SET added_at = now() - interval '2 days' WHERE creator_id = $1`,
);
// A position is the time of its assignment in microseconds; 0 before.
const backdatePositions = statement(
  'test.backdate-positions',
  `UPDATE order_feed_entries SET position = greatest(position - 2 * 86400000000, 0) WHERE creator_id = $1`,
);
const backdateFeed = statement(
  'test.backdate-feed',
  `UPDATE order_feeds SET read_at = now() - interval '2 days' WHERE creator_id = $1`,
);
const findFeed = statement('test.find-feed', 'SELECT id FROM order_feeds WHERE creator_id = $1');
const entries = statement('test.entries', 'SELECT order_id FROM order_feed_entries WHERE creator_id = $1');
const markFeedAsRead = statement(
  'test.mark-feed-as-read',
  'UPDATE order_feeds SET read_at = now() WHERE creator_id = $1',
);

interface SentEvent {
  readonly event: string;
  readonly id: string;
  readonly data: { readonly uuid?: string };
}

describe('the stream of new orders', () => {
  let api: CreatorApi;
  const leaveStreams: (() => void)[] = [];
  beforeAll(async () => {
    api = await creatorApi();
    api.app.get(ActiveStreams).start();
  });
  afterAll(async () => {
    await api.app.get(ActiveStreams).stop();
    await api.stop();
  });
  afterEach(async () => {
    for (const leave of leaveStreams.splice(0)) leave();
    await eventually(() => api.app.get(ActiveStreams).count === 0);
  });

  /** Each creator has an organisation of its own, since streams are limited per organisation. */
  const newCreator = () => api.newCreator({ organisation_id: `org_${uuidv7().slice(-12)}` });
  const newOrder = ({ id }: CreatorSnapshot) => anOrder(id, { placed_at: new Date().toISOString() });
  const place = async (creator: CreatorSnapshot) => {
    const placed = newOrder(creator);
    await api.record({ orders: [placed] });
    return placed.id;
  };

  /** Opens a stream and collects its events. */
  const open = async (
    creator: CreatorSnapshot,
    { claims = {}, lastEventId = '' }: { claims?: object; lastEventId?: string } = {},
  ) => {
    const { response, leave } = await api.openStream(
      `/api/v1/order-stream?creator=${creator.id}`,
      { ...ownerClaims(creator.organisation_id), ...claims },
      lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId },
    );
    leaveStreams.push(leave);
    const events: SentEvent[] = [];
    const ended = collect(response, events).then(
      () => 'ended',
      () => 'aborted',
    );
    /** Resolves with the first `count` events once they have arrived. */
    const first = (count: number) =>
      eventually(() => (events.length >= count ? events.slice(0, count) : undefined));
    return { response, events, ended, leave, first, status: response.status };
  };
  /** Opens a stream and closes it again. Returns its events. */
  const openAndLeave = async (creator: CreatorSnapshot) => {
    const { first, leave, events } = await open(creator);
    await first(1);
    leave();
    await eventually(() => api.app.get(ActiveStreams).count === 0);
    return events;
  };
  const orderIds = (events: readonly SentEvent[]) => events.map(({ data }) => data.uuid);

  it('sends each new order as the list shows it, and no earlier one', async () => {
    const creator = await newCreator();
    await place(creator);
    const stream = await open(creator);
    await stream.first(1);
    const placed = [await place(creator), await place(creator)];
    const [first, ...events] = await stream.first(3);
    expect([first?.event, stream.response.headers.get('content-type')]).toEqual([
      'open',
      'text/event-stream; charset=utf-8',
    ]);
    expect(orderIds(events)).toEqual(placed);
    const list = await api.get(`/api/v1/orders?creator=${creator.id}`, ownerClaims(creator.organisation_id));
    for (const { data } of events) expect(list.body.data).toContainEqual(data);
  });

  it('responds to HEAD at once with the headers of GET, and leaves no stream open', async () => {
    const creator = await newCreator();
    const { status, headers } = await api.head(
      `/api/v1/order-stream?creator=${creator.id}`,
      ownerClaims(creator.organisation_id),
    );
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await eventually(() => api.app.get(ActiveStreams).count === 0);
  });

  it('begins without orders that were placed while no stream was open, and sends them when it is resumed', async () => {
    const creator = await newCreator();
    const [{ id: lastEventId = '' } = {}] = await openAndLeave(creator);
    const missed = await place(creator);
    const stream = await open(creator);
    await stream.first(1);
    const placed = await place(creator);
    expect(orderIds((await stream.first(2)).slice(1))).toEqual([placed]);
    expect(orderIds((await (await open(creator, { lastEventId })).first(3)).slice(1))).toEqual([
      missed,
      placed,
    ]);
  });

  it('opens, as the first of a creator, only after the transactions that were writing orders', async () => {
    const creator = await newCreator();
    const placed = newOrder(creator);
    const transaction = await api.database.begin();
    await projectOrders(transaction.tx, [placed]); // no feed exists yet, so it gets no entry
    const listAtOpen = open(creator).then(async ({ first }) => {
      await first(1);
      const path = `/api/v1/orders?creator=${creator.id}`;
      return (await api.get(path, ownerClaims(creator.organisation_id))).body.data;
    });
    await eventually(() => api.database.row(findFeed, [creator.id]));
    await Promise.race([listAtOpen, delay(200)]); // time to open too early
    await transaction.commit();
    expect(await listAtOpen).toMatchObject([{ uuid: placed.id }]);
  });

  it('is 503, as the first of a creator, while a transaction that writes orders takes long', async () => {
    const feeds = new OrderFeeds(api.database, 0);
    const creator = await newCreator();
    const transaction = await api.database.begin();
    await projectOrders(transaction.tx, [newOrder(await newCreator())]);
    try {
      await expect(feeds.begin(creator.id)).rejects.toThrow(ServiceUnavailable);
      await place(creator);
      await feeds.assignAndReadPositions([creator.id]); // as another replica may
      await expect(feeds.begin(creator.id)).rejects.toThrow(ServiceUnavailable);
    } finally {
      await transaction.commit();
    }
    expect(await feeds.begin(creator.id)).toMatchObject({ id: expect.any(String) });
  });

  it('opens after the cleanup has deleted its feed, but not an entry without a position', async () => {
    const creator = await newCreator();
    await openAndLeave(creator);
    await place(creator);
    // Repeated, since a round that began before the stream was left may still mark the feed as read.
    await eventually(async () => {
      await api.database.run(backdateFeed, [creator.id]);
      return (await deleteOldFeeds(api.database)) === 1;
    });
    const stream = await open(creator);
    await stream.first(1);
    const placed = await place(creator);
    expect(orderIds((await stream.first(2)).slice(1))).toEqual([placed]);
  });

  it('keeps its feed when a client connects during the cleanup', async () => {
    const creator = await newCreator();
    const [{ id: lastEventId = '' } = {}] = await openAndLeave(creator);
    await api.database.run(backdateFeed, [creator.id]);
    await api.database.transaction(async (tx) => {
      await tx.run(markFeedAsRead, [creator.id]);
      await deleteOldFeeds(api.database);
    });
    const [first] = await (await open(creator, { lastEventId })).first(1);
    expect(first?.event).toBe('open');
  });

  it('continues with orders that were added more than a day ago, after an event of the last day', async () => {
    const creator = await newCreator();
    const [{ id: lastEventId = '' } = {}] = await openAndLeave(creator);
    const placed = [await place(creator), await place(creator)];
    const stream = await open(creator, { lastEventId }); // assigns positions to the orders
    const [, event] = await stream.first(2);
    stream.leave();
    await api.database.run(backdateEntries, [creator.id]);
    await deleteOldFeeds(api.database);
    const resumed = await open(creator, { lastEventId: event?.id ?? '' });
    const rest = placed.filter((id) => id !== event?.data.uuid);
    expect(orderIds((await resumed.first(2)).slice(1))).toEqual(rest);
  });

  it('does not repeat an order when it changes', async () => {
    const creator = await newCreator();
    const stream = await open(creator);
    await stream.first(1);
    const first = newOrder(creator);
    await api.record({ orders: [first] });
    await api.record({ orders: [paid(first)] });
    const second = await place(creator);
    expect(orderIds((await stream.first(3)).slice(1))).toEqual([first.id, second]);
  });

  it('does not skip an order whose transaction commits after later ones were read', async () => {
    const creator = await newCreator();
    const stream = await open(creator);
    await stream.first(1);
    // Transactions that add orders of one status update the same row of order_counts. `late` has another
    // status, since `early` would wait for it otherwise.
    const late = paid(newOrder(creator));
    const transaction = await api.database.begin();
    await projectOrders(transaction.tx, [late]);
    const early = await place(creator);
    const [, created] = await stream.first(2);
    expect(created?.data.uuid).toBe(early);
    stream.leave();
    await transaction.commit();
    const resumed = await open(creator, { lastEventId: created?.id ?? '' });
    expect(orderIds((await resumed.first(2)).slice(1))).toEqual([late.id]);
  });

  it('continues after the last event of a client that was away', async () => {
    const creator = await newCreator();
    const stream = await open(creator);
    await stream.first(1);
    const placed = [await place(creator), await place(creator), await place(creator)];
    const [, first] = await stream.first(2);
    stream.leave();
    const resumed = await open(creator, { lastEventId: first?.id ?? '' });
    const events = await resumed.first(3);
    expect(events[0]?.event).toBe('open');
    expect(orderIds(events.slice(1))).toEqual(placed.filter((id) => id !== first?.data.uuid));
  });

  it('keeps waiting while there is no new order, even after it was resumed', async () => {
    const creator = await newCreator();
    const stream = await open(creator);
    const [first] = await stream.first(1);
    stream.leave();
    const resumed = await open(creator, { lastEventId: first?.id ?? '' });
    await resumed.first(1);
    await open(creator); // begins after the position of the other stream
    const streams = api.app.get(ActiveStreams);
    // A stream that begins raises the position of the feed, so that others read once although no order is
    // new. Waits until both streams still wait after a round.
    await eventually(async () => {
      if (streams.waitingCount < 2) return undefined;
      await streams.round();
      return streams.waitingCount === 2;
    });
    const placed = await place(creator);
    expect(orderIds((await resumed.first(2)).slice(1))).toEqual([placed]);
  });

  it('begins with a reset after an id from which it cannot continue', async () => {
    const [creator, other] = [await newCreator(), await newCreator()];
    const [stream, otherStream] = [await open(creator), await open(other)];
    const [[first], [foreign]] = [await stream.first(1), await otherStream.first(1)];
    stream.leave();
    await eventually(() => api.app.get(ActiveStreams).count === 1);
    await place(creator);
    let deleted = 0;
    // Repeated, since a round that began before the stream was left may still mark the feed as read.
    await eventually(async () => {
      for (const backdate of [backdateEntries, backdatePositions, backdateFeed])
        await api.database.run(backdate, [creator.id]);
      deleted += await deleteOldFeeds(api.database);
      return deleted >= 2;
    });
    expect(deleted).toBe(2); // the entry and the feed
    expect(await api.database.rows(entries, [creator.id])).toEqual([]);
    for (const lastEventId of [first?.id ?? '', foreign?.id ?? '', 'forged']) {
      const [event] = await (await open(creator, { lastEventId })).first(1);
      expect(event?.event).toBe('reset');
    }
  });

  it('stores no entries for a creator without a stream, or for orders that were placed more than a day ago', async () => {
    const [withoutStream, withStream] = [await newCreator(), await newCreator()];
    await place(withoutStream);
    const stream = await open(withStream);
    await stream.first(1);
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const older = anOrder(withStream.id, { placed_at: hoursAgo(25) });
    const younger = anOrder(withStream.id, { placed_at: hoursAgo(23) });
    await api.record({ orders: [older, younger] });
    expect(await api.database.rows(entries, [withoutStream.id])).toEqual([]);
    expect(await api.database.rows(entries, [withStream.id])).toEqual([{ order_id: younger.id }]);
  });

  it('ends when the token expires', async () => {
    const creator = await newCreator();
    let openedAtMs = 0;
    // The token may have expired before it is verified.
    const stream = await eventually(async () => {
      openedAtMs = Date.now();
      const opened = await open(creator, { claims: { exp: Math.floor(openedAtMs / 1000) + 3 } });
      return opened.status === 200 && opened;
    });
    expect(await stream.ended).toBe('ended');
    expect(Date.now() - openedAtMs).toBeGreaterThan(1_900); // it expired after two to three seconds
  });

  it('ends before the next order once the API rejects the revoked token', async () => {
    const creator = await newCreator();
    const jti = uuidv7();
    const stream = await open(creator, { claims: { jti } });
    await stream.first(1);
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    await redis.set(revokedTokenKey(jti), '1', 'EX', 600);
    redis.disconnect();
    const claims = { ...ownerClaims(creator.organisation_id), jti };
    await eventually(async () => (await api.get('/api/v1/creators', claims)).status === 401);
    await place(creator);
    expect(await stream.ended).toBe('ended');
    expect(stream.events).toHaveLength(1);
  });

  it('is aborted before the next order when the creator leaves the organisation', async () => {
    const creator = await newCreator();
    const stream = await open(creator);
    await stream.first(1);
    await api.record({ creators: [{ ...creator, version: 2, organisation_id: 'org_buyer' }] });
    await place(creator);
    expect(await stream.ended).toBe('aborted');
    expect(stream.events).toHaveLength(1);
  });

  it('has a heartbeat interval below the read timeout of the gateway, which does not buffer the stream', async () => {
    const path = join(import.meta.dirname, '../../../../deploy/gateway/nginx.conf.template');
    const template = await readFile(path, 'utf8');
    const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(template) ?? [];
    expect(heartbeatMs).toBeLessThan(Number(seconds) * 1000);
    expect(template).toMatch(/location = \/creator\/api\/v1\/order-stream \{\s+proxy_buffering off;/);
  });

  it('is rejected while the process has 500 streams of any organisations', () => {
    const streams = new ActiveStreams(api.app.get(OrderFeeds), api.app.get(LOGGER));
    for (let tenant = 0; tenant < 500; tenant += 1) streams.open(`org_${tenant}`, 'any');
    expect(() => streams.open('org_another', 'any')).toThrow(RateLimited);
  });

  it('is rejected with 429 while the organisation has 20 streams, but not for another organisation', async () => {
    const [creator, other] = [await newCreator(), await newCreator()];
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(creator)));
    expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const rejected = await open(creator);
    expect([rejected.status, rejected.response.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await open(other)).status).toBe(200);
  });
});

async function collect(response: Response, events: SentEvent[]): Promise<void> {
  if (response.status !== 200 || response.body === null) return;
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      if (field('event') !== '')
        events.push({ event: field('event'), id: field('id'), data: JSON.parse(field('data')) });
    }
  }
}
