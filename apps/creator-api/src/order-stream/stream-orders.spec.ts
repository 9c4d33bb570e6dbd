import { type Caller, RevokedTokens, SignedCursors } from '@fulfilment/http-service';
import { LOGGER } from '@fulfilment/runtime';
import { text } from 'node:stream/consumers';
import { creatorApi, type CreatorApi } from '../test/creator-api.fixture.js';
import { aMember } from '../visibility/caller.fixture.js';
import { Visibility } from '../visibility/visibility.js';
import { ActiveStreams } from './active-streams.job.js';
import { heartbeatMs, StreamOrders } from './stream-orders.js';

/** Returns the new position of the feed, or undefined after the timeout. */
type Wait = (timeoutMs: number) => Promise<number | undefined>;

class ControlledStreams extends ActiveStreams {
  waitFor: Wait = () => Promise.resolve(undefined);

  override wait(_stream: unknown, { timeoutMs }: { timeoutMs: number }): Promise<number | undefined> {
    return this.waitFor(timeoutMs);
  }
}

describe('the stream of orders of a token', () => {
  let api: CreatorApi;
  beforeAll(async () => {
    api = await creatorApi();
  });
  afterAll(() => api.stop());

  /** A stream with a clock, waits and revocations that the test controls. */
  async function controlledStream() {
    const { id: creatorId } = await api.newCreator();
    let nowMs = Date.parse('2026-11-20T10:00:00.000Z');
    const caller: Caller = { ...aMember, tokenExpiresAt: new Date(nowMs + 3_600_000) };
    const streams = new ControlledStreams(api.database, api.app.get(LOGGER));
    const client = new AbortController();
    const stream = new StreamOrders(
      api.app.get(Visibility),
      api.app.get(SignedCursors),
      streams,
      api.app.get(RevokedTokens),
      () => new Date(nowMs),
    );
    return {
      streams,
      pass: (ms: number) => void (nowMs += ms),
      leave: () => client.abort(),
      open: () => stream.run({ caller, creatorId, lastEventId: undefined, signal: client.signal }),
    };
  }

  it('has a heartbeat after 15 s, also if the wait for an order ended shortly before', async () => {
    const { streams, pass, leave, open } = await controlledStream();
    const timeoutsMs: number[] = [];
    streams.waitFor = (timeoutMs) => {
      timeoutsMs.push(timeoutMs);
      if (timeoutsMs.length === 3) leave();
      pass(timeoutsMs.length === 1 ? timeoutMs - 1000 : timeoutMs);
      return Promise.resolve(undefined);
    };
    const sent = await text(await open());
    expect(timeoutsMs).toEqual([heartbeatMs, 1000, heartbeatMs]);
    expect(sent.split(': heartbeat')).toHaveLength(3);
  });
});
