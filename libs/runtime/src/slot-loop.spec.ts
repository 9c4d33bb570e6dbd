import { once } from 'node:events';
import { createLogger } from './logger.js';
import { SlotLoop } from './slot-loop.js';

const logger = createLogger('test', 'silent');

describe('SlotLoop', () => {
  /** A loop over due numbers. */
  const loopOver = (
    due: number[],
    slots: number,
    work: (item: number, stopping: AbortSignal) => Promise<void>,
  ) =>
    new SlotLoop<number>({
      name: 'test',
      intervalMs: 60_000,
      logger,
      slots,
      claim: (max) => Promise.resolve(due.splice(0, max)),
      work,
    });

  it('gives a free slot to the next item while another one is running', async () => {
    const done: number[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let allOthers: () => void = () => undefined;
    const othersDone = new Promise<void>((resolve) => (allOthers = resolve));
    const loop = loopOver([1, 2, 3, 4, 5], 2, async (item) => {
      if (item === 1) await held;
      done.push(item);
      if (done.length === 4) allOthers();
    });
    loop.start();
    await othersDone;
    expect(done).toEqual([2, 3, 4, 5]);
    release();
    await loop.stop();
    expect(done).toEqual([2, 3, 4, 5, 1]);
  });

  it('runs no more items than it has slots', async () => {
    let running = 0;
    let max = 0;
    const loop = loopOver([1, 2, 3, 4, 5, 6, 7], 3, async () => {
      running += 1;
      max = Math.max(max, running);
      await new Promise(setImmediate);
      running -= 1;
    });
    await loop.processDue();
    expect([max, running]).toEqual([3, 0]);
  });

  it('aborts the signal of running items when it stops, and takes no more', async () => {
    const left: number[] = [];
    let bothBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (bothBegun = resolve));
    const loop = loopOver([1, 2, 3], 2, async (item, stopping) => {
      if (item === 2) bothBegun();
      await once(stopping, 'abort');
      left.push(item);
    });
    loop.start();
    await begun;
    await loop.stop();
    expect(left).toEqual([1, 2]);
  });

  it('continues after a failed item', async () => {
    const done: number[] = [];
    const loop = loopOver([1, 2], 1, (item) => {
      if (item === 1) return Promise.reject(new Error('once'));
      done.push(item);
      return Promise.resolve();
    });
    await loop.processDue();
    expect(done).toEqual([2]);
  });
});
