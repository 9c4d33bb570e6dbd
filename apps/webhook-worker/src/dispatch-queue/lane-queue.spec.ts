import { type DueSubscription, LaneQueue } from './lane-queue.js';

const due = (subscriptionId: string, day?: string): DueSubscription => ({
  subscriptionId,
  lane: 'fast',
  days: day === undefined ? undefined : { from: day, to: day },
});

async function takeIds(queue: LaneQueue, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await queue.take())?.subscriptionId ?? 'none');
  return ids;
}

describe('the queue of a lane', () => {
  it('alternates between subscriptions with new work and those that continue, each in order of arrival', async () => {
    const queue = new LaneQueue();
    for (const id of ['c1', 'c2', 'c3']) void queue.add(due(id), 'continued');
    for (const id of ['n1', 'n2']) void queue.add(due(id), 'new');
    expect(await takeIds(queue, 5)).toEqual(['n1', 'c1', 'n2', 'c2', 'c3']);
  });

  it('contains a subscription once, at its first place, with the days of all its wake-ups', async () => {
    const queue = new LaneQueue();
    void queue.add(due('s', '2026-11-22'), 'continued');
    void queue.add(due('other'), 'continued');
    void queue.add(due('s', '2026-11-20'), 'new');
    expect(queue.size).toBe(2);
    expect(await queue.take()).toMatchObject({ days: { from: '2026-11-20', to: '2026-11-22' } });
    expect(await takeIds(queue, 1)).toEqual(['other']);
  });

  it('has no days for a subscription when those of one wake-up are unknown', async () => {
    const queue = new LaneQueue();
    void queue.add(due('s', '2026-11-22'), 'new');
    void queue.add(due('s'), 'new');
    expect(await queue.take()).toEqual({ subscriptionId: 's', lane: 'fast', days: undefined });
  });

  it('gives a subscription to a dispatcher that waits for one, and then resolves the call that added it', async () => {
    const queue = new LaneQueue();
    const taking = takeIds(queue, 1);
    await queue.add(due('s'), 'new');
    expect(await taking).toEqual(['s']);
  });

  it('ends the taker when it stops, and returns what was waiting', async () => {
    const queue = new LaneQueue();
    const taking = queue.take();
    expect(queue.stop()).toEqual([]);
    expect(await taking).toBeUndefined();
    const waiting = queue.add(due('late'), 'new');
    expect(queue.stop()).toMatchObject([{ subscriptionId: 'late' }]);
    await waiting;
  });
});
