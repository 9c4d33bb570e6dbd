import { AttemptSlots } from './attempt-slots.js';
import { windowSizes } from './window.rules.js';

const { initial } = windowSizes;

describe('the attempt slots of a lane', () => {
  it('are at most as many as configured, and can be taken as soon as one is free', async () => {
    const slots = new AttemptSlots(10);
    const first = slots.take({ maxCount: 8, running: 0 });
    const second = slots.take({ maxCount: 8, running: 0 });
    expect([first?.count, second?.count]).toEqual([8, 2]);
    const waiting = slots.untilLaneSlotIsFree().then(() => slots.take({ maxCount: 8, running: 0 }));
    second?.free(1);
    first?.free(3);
    expect((await waiting)?.count).toBe(4);
  });

  it('are enough for a third subscription while two have large windows', () => {
    const extra = 40;
    const slots = new AttemptSlots(3 * initial, extra);
    const takeForLargeWindow = () => slots.take({ maxCount: windowSizes.max, running: 0 });
    const [first, second] = [takeForLargeWindow(), takeForLargeWindow()];
    expect([first?.count, second?.count]).toEqual([initial + extra, initial]);
    const remainingOfSecond = { maxCount: windowSizes.max - initial, running: initial };
    expect(slots.take(remainingOfSecond)).toBeUndefined(); // all extra slots are taken
    expect(slots.take({ maxCount: initial, running: 0 })?.count).toBe(initial);
    first?.free(initial + extra);
    expect(takeForLargeWindow()?.count).toBe(initial + extra);
  });
});
