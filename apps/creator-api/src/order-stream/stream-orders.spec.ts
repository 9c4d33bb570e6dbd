import { jest } from '@jest/globals';
import { type Caller, RevokedTokens, SignedCursors } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { LOGGER } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { text } from 'node:stream/consumers';
import { anOrder } from '../orders/order-snapshot.fixture.js';
import { creatorApi, type CreatorApi } from '../test/creator-api.fixture.js';
import { aMember } from '../visibility/caller.fixture.js';
import { Visibility } from '../visibility/visibility.js';
import { ActiveStreams } from './active-streams.job.js';
import { OrderFeeds } from './order-feeds.js';
import { heartbeatMs, StreamOrders } from './stream-orders.js';

/** Returns the new position of the feed, or undefined after the timeout. */
type Wait = (timeoutMs: number) => Promise<number | undefined>;

class ControlledStreams extends ActiveStreams {
  waitFor: Wait = () => Promise.resolve(undefined);

  override waitForNewOrder(
    _stream: unknown,
    { timeoutMs }: { timeoutMs: number },
  ): Promise<number | undefined> {
    return this.waitFor(timeoutMs);
  }
}

class ControlledRevocations extends RevokedTokens {
  isRevoked = false;

  override has(): Promise<boolean> {
    return Promise.resolve(this.isRevoked);
  }
}

describe('the stream of new orders, with a controlled clock', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  /** Returns a stream whose clock, waits and revocations the test controls. */
  async function controlledStream() {
    const { id: creatorId } = await api.newCreator();
    const feeds = api.app.get(OrderFeeds);
    let nowMs = Date.parse('2026-11-20T10:00:00.000Z');
    const caller: Caller = { ...aMember, tokenExpiresAt: new Date(nowMs + 3_600_000) };
    const streams = new ControlledStreams(feeds, api.app.get(LOGGER));
    const revocations = new ControlledRevocations(api.app.get(RedisConnection));
    const client = new AbortController();
    const stream = new StreamOrders(
      api.app.get(Visibility),
      api.app.get(SignedCursors),
      streams,
      feeds,
      revocations,
      () => new Date(nowMs),
    );
    return {
      streams,
      passTime: (ms: number) => void (nowMs += ms),
      leave: () => client.abort(),
      revoke: () => void (revocations.isRevoked = true),
      expire: () => void (nowMs = caller.tokenExpiresAt.getTime()),
      open: () => stream.run({ caller, creatorId, lastEventId: undefined, signal: client.signal }),
      /** Returns the new position of the feed. */
      place: async (count: number) => {
        const placed_at = new Date().toISOString();
        await api.record({ orders: Array.from({ length: count }, () => anOrder(creatorId, { placed_at })) });
        return (await feeds.assignAndReadPositions([creatorId])).get(creatorId);
      },
    };
  }

  it('sends a heartbeat every 15 s, even if a wait for an order ends a second before it is due, and the clock is set back', async () => {
    const { streams, passTime, leave, open } = await controlledStream();
    const timeoutsMs: number[] = [];
    let elapsedMs = 0;
    const elapsed = jest.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    streams.waitFor = (timeoutMs) => {
      timeoutsMs.push(timeoutMs);
      if (timeoutsMs.length === 3) leave();
      const endsEarlyMs = timeoutsMs.length === 1 ? 1000 : 0;
      elapsedMs += timeoutMs - endsEarlyMs;
      passTime(-60_000);
      return Promise.resolve(undefined);
    };
    const sent = await open()
      .then(text)
      .finally(() => elapsed.mockRestore());
    expect(timeoutsMs).toEqual([heartbeatMs, 1000, heartbeatMs]);
    expect(sent.split(': heartbeat')).toHaveLength(3); // two heartbeats
  });

  it.each([
    ['was revoked', 'revoke'],
    ['has expired', 'expire'],
  ] as const)('sends no more orders of a page once the token %s', async (_what, endToken) => {
    const controlled = await controlledStream();
    let newPosition: number | undefined;
    controlled.streams.waitFor = async () => {
      if (newPosition !== undefined)
        controlled.leave(); // all orders were sent
      else newPosition = await controlled.place(300); // more than the buffer of the stream takes
      return newPosition;
    };
    const stream = await controlled.open();
    await eventually(() => stream.readableLength >= stream.readableHighWaterMark);
    const buffered = stream.readableLength;
    controlled[endToken]();
    expect(Buffer.byteLength(await text(stream))).toBe(buffered);
  });
});
