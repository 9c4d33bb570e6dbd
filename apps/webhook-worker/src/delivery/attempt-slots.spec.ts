import { AttemptSlots } from './attempt-slots.js';

describe('the attempt slots of a lane', () => {
  it('are at most as many as configured, and can be taken as soon as one is free', async () => {
    const slots = new AttemptSlots(10);
    const first = slots.take(8, 0);
    const second = slots.take(8, 0);
    expect([first.count, second.count]).toEqual([8, 2]);
    const waiting = slots.untilFree().then(() => slots.take(8, 0));
    second.free(1);
    first.free(3);
    expect((await waiting).count).toBe(4);
  });

  it('are enough for other subscriptions, however large the windows of some are', () => {
    const slots = new AttemptSlots(24, 40);
    const large = [slots.take(64, 0), slots.take(64, 0)];
    expect(large.map(({ count }) => count)).toEqual([8 + 40, 8]);
    expect(slots.take(56, 8).count).toBe(0); // all extra slots are taken
    expect(slots.take(8, 0).count).toBe(8);
    large[0]?.free(48);
    expect(slots.take(64, 0).count).toBe(8 + 40);
  });
});
