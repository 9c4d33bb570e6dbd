import { AttemptSlots } from './attempt-slots.js';
import { windowSizes } from './window.rules.js';

const { initial } = windowSizes;

describe('the attempt slots of a lane', () => {
  it('are at most as many as configured, and can be taken as soon as one is free', async () => {
    const slots = new AttemptSlots(10);
    const first = slots.take({ maxCount: 8, running: 0 });
    const second = slots.take({ maxCount: 8, running: 0 });
    expect([first?.count, second?.count]).toEqual([8, 2]);
    const waiting = slots.untilFree().then(() => slots.take({ maxCount: 8, running: 0 }));
    second?.free(1);
    first?.free(3);
    expect((await waiting)?.count).toBe(4);
  });

  it('are enough for a third subscription while two have large windows', () => {
    const slots = new AttemptSlots(3 * initial, 40);
    const large = [slots.take({ maxCount: 64, running: 0 }), slots.take({ maxCount: 64, running: 0 })];
    expect(large.map((taken) => taken?.count)).toEqual([initial + 40, initial]);
    expect(slots.take({ maxCount: 56, running: initial })).toBeUndefined(); // all extra slots are taken
    expect(slots.take({ maxCount: initial, running: 0 })?.count).toBe(initial);
    large[0]?.free(initial + 40);
    expect(slots.take({ maxCount: 64, running: 0 })?.count).toBe(initial + 40);
  });
});
