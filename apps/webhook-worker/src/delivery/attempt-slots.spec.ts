import { AttemptSlots } from './attempt-slots.js';

describe('the attempt slots of a lane', () => {
  it('are never more than their number, and are taken as soon as one is free', async () => {
    const slots = new AttemptSlots(10);
    const first = await slots.take(8);
    const second = await slots.take(8);
    expect([first.count, second.count]).toEqual([8, 2]);
    const waiting = slots.take(8);
    second.free(1);
    first.free(3);
    expect((await waiting).count).toBe(4);
  });
});
