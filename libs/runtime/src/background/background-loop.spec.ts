import { setTimeout as delay } from 'node:timers/promises';
import { BackgroundLoop } from './background-loop.js';
import { createLogger } from '../logger.js';

const logger = createLogger('test', 'fatal');

describe('BackgroundLoop', () => {
  it('runs the next round at once when there is more work, and after a wake-up', async () => {
    let rounds = 0;
    const third = Promise.withResolvers<void>();
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 60_000,
      logger,
      round: () => {
        rounds += 1;
        if (rounds === 2) setImmediate(() => loop.wake());
        if (rounds === 3) third.resolve();
        return Promise.resolve(rounds === 1);
      },
    });
    loop.start();
    await third.promise;
    await loop.stop();
    expect(rounds).toBe(3);
  });

  it('pauses after a round, and runs one round for all wake-ups during the pause', async () => {
    const pauseMs = 20;
    const startedAtMs: number[] = [];
    const second = Promise.withResolvers<void>();
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 60_000,
      pauseMs,
      logger,
      round: () => {
        startedAtMs.push(performance.now());
        if (startedAtMs.length === 1) for (let wake = 0; wake < 3; wake += 1) setImmediate(() => loop.wake());
        else second.resolve();
        return Promise.resolve(false);
      },
    });
    loop.start();
    await second.promise;
    await delay(3 * pauseMs); // enough for a third round, if there were one
    await loop.stop();
    expect(startedAtMs).toHaveLength(2);
    // A timer may fire a millisecond early.
    expect((startedAtMs[1] ?? 0) - (startedAtMs[0] ?? 0)).toBeGreaterThan(pauseMs - 2);
  });

  it('runs the next round after one that failed', async () => {
    let rounds = 0;
    const second = Promise.withResolvers<void>();
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 1,
      logger,
      round: () => {
        rounds += 1;
        if (rounds === 1) return Promise.reject(new Error('once'));
        second.resolve();
        return Promise.resolve(false);
      },
    });
    loop.start();
    await second.promise;
    await loop.stop();
    expect(rounds).toBeGreaterThanOrEqual(2);
  });
});
