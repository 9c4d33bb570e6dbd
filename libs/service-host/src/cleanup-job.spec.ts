import { jest } from '@jest/globals';
import { createLogger } from '@fulfilment/runtime';
import { Cleanup } from './cleanup-job.js';

describe('Cleanup', () => {
  const logger = createLogger('test', 'silent');
  const intervalMs = 60_000;

  it('deletes batches until none is left, also while another job fails', async () => {
    const { promise: allDeleted, resolve } = Promise.withResolvers<void>();
    const batches = [1000, 1000, 3, 0];
    const sizes: number[] = [];
    const fail = () => Promise.reject(new Error('down'));
    const deleteBatch = (): Promise<number> => {
      const size = batches.shift() ?? 0;
      sizes.push(size);
      if (size === 0) resolve();
      return Promise.resolve(size);
    };
    const cleanup = new Cleanup(
      [
        { name: 'failing rows', intervalMs, deleteBatch: fail },
        { name: 'old rows', intervalMs, deleteBatch },
      ],
      logger,
    );
    cleanup.start();
    await allDeleted;
    await cleanup.stop();
    expect(sizes).toEqual([1000, 1000, 3, 0]);
  });

  it('stops without waiting for the end of the pause after a slow batch', async () => {
    let nowMs = 0;
    // Each reading of the clock is ten minutes later, so a batch seems to take ten minutes.
    const now = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 600_000));
    const deleted = Promise.withResolvers<void>();
    const deleteBatch = (): Promise<number> => {
      deleted.resolve();
      return Promise.resolve(1000);
    };
    const cleanup = new Cleanup([{ name: 'old rows', intervalMs, deleteBatch }], logger);
    cleanup.start();
    await deleted.promise;
    await new Promise((resolve) => setImmediate(resolve)); // the pause of 90 minutes begins
    await cleanup.stop();
    now.mockRestore();
  });
});
