import { jest } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '../logger.js';
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
    const [release, othersDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const loop = loopOver([1, 2, 3, 4, 5], 2, async (item) => {
      if (item === 1) await release.promise;
      done.push(item);
      if (done.length === 4) othersDone.resolve();
    });
    loop.start();
    await othersDone.promise;
    expect(done).toEqual([2, 3, 4, 5]);
    release.resolve();
    await loop.stop();
    expect(done).toEqual([2, 3, 4, 5, 1]);
  });

  it('runs no more items concurrently than it has slots', async () => {
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

  it('aborts the signal of running items when it stops, and claims no more', async () => {
    const aborted: number[] = [];
    const bothStarted = Promise.withResolvers<void>();
    const loop = loopOver([1, 2, 3], 2, async (item, stopping) => {
      if (item === 2) bothStarted.resolve();
      await once(stopping, 'abort');
      aborted.push(item);
    });
    loop.start();
    await bothStarted.promise;
    await loop.stop();
    expect(aborted).toEqual([1, 2]);
  });

  it('claims after a wake-up during the pause that follows a claim', async () => {
    const done: number[] = [];
    const due: number[] = [];
    let claims = 0;
    const second = Promise.withResolvers<void>();
    const loop = new SlotLoop<number>({
      name: 'test',
      intervalMs: 60_000,
      logger,
      slots: 2,
      claim: async () => {
        claims += 1;
        if (claims > 1) return due.splice(0);
        await delay(20); // so that the pause has 40 ms
        setImmediate(() => {
          due.push(1);
          loop.wake();
        });
        return [];
      },
      work: (item) => {
        done.push(item);
        second.resolve();
        return Promise.resolve();
      },
    });
    loop.start();
    await second.promise;
    await loop.stop();
    expect(done).toEqual([1]);
  });

  it('does not wait for the end of a pause when it stops', async () => {
    const paused = Promise.withResolvers<void>();
    let claims = 0;
    const time = jest.spyOn(performance, 'now');
    const loop = new SlotLoop<number>({
      name: 'test',
      intervalMs: 60_000,
      logger,
      slots: 1,
      claim: () => {
        claims += 1;
        time.mockReturnValueOnce(performance.now() + 600_000); // the end of the claim
        setImmediate(() => {
          loop.wake();
          paused.resolve();
        });
        return Promise.resolve([]);
      },
      work: () => Promise.resolve(),
    });
    loop.start();
    await paused.promise;
    await new Promise(setImmediate); // the loop waits for the end of the pause now
    await loop.stop();
    time.mockRestore();
    expect(claims).toBe(1);
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
