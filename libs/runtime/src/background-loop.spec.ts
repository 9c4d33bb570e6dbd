import { BackgroundLoop } from './background-loop.js';
import { createLogger } from './logger.js';

const logger = createLogger('test', 'fatal');

describe('BackgroundLoop', () => {
  it('runs again at once while there is more, and after each wake', async () => {
    let rounds = 0;
    let reached: () => void = () => undefined;
    const third = new Promise<void>((resolve) => (reached = resolve));
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 60_000,
      logger,
      round: () => {
        rounds += 1;
        if (rounds === 2) setImmediate(() => loop.wake());
        if (rounds === 3) reached();
        return Promise.resolve(rounds === 1);
      },
    });
    loop.start();
    await third;
    await loop.stop();
    expect(rounds).toBe(3);
  });

  it('rests after a round, and makes one round of what woke it meanwhile', async () => {
    const startedAtMs: number[] = [];
    let reached: () => void = () => undefined;
    const second = new Promise<void>((resolve) => (reached = resolve));
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 60_000,
      restMs: 20,
      logger,
      round: () => {
        startedAtMs.push(performance.now());
        if (startedAtMs.length === 1) for (let wake = 0; wake < 3; wake += 1) setImmediate(() => loop.wake());
        else reached();
        return Promise.resolve(false);
      },
    });
    loop.start();
    await second;
    await loop.stop();
    expect(startedAtMs).toHaveLength(2);
    expect((startedAtMs[1] ?? 0) - (startedAtMs[0] ?? 0)).toBeGreaterThan(18);
  });

  it('goes on after a round that failed', async () => {
    let rounds = 0;
    let reached: () => void = () => undefined;
    const second = new Promise<void>((resolve) => (reached = resolve));
    const loop = new BackgroundLoop({
      name: 'test',
      intervalMs: 1,
      logger,
      round: () => {
        rounds += 1;
        if (rounds === 1) return Promise.reject(new Error('once'));
        reached();
        return Promise.resolve(false);
      },
    });
    loop.start();
    await second;
    await loop.stop();
    expect(rounds).toBeGreaterThanOrEqual(2);
  });
});
