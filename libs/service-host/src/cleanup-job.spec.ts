import { createLogger } from '@fulfilment/runtime';
import { Cleanup } from './cleanup-job.js';

describe('the clean-up of a service', () => {
  it('deletes batches until none is left, also while another job fails', async () => {
    const logger = createLogger('test', 'silent');
    const { promise: allDeleted, resolve } = Promise.withResolvers<void>();
    const batches = [1000, 1000, 3, 0];
    const sizes: number[] = [];
    const failing = () => Promise.reject(new Error('down'));
    const deleteBatch = (): Promise<number> => {
      const size = batches.shift() ?? 0;
      sizes.push(size);
      if (size === 0) resolve();
      return Promise.resolve(size);
    };
    const intervalMs = 60_000;
    const cleanup = new Cleanup(
      [
        { name: 'failing rows', intervalMs, deleteBatch: failing },
        { name: 'old rows', intervalMs, deleteBatch },
      ],
      logger,
    );
    cleanup.start();
    await allDeleted;
    await cleanup.stop();
    expect(sizes).toEqual([1000, 1000, 3, 0]);
  });
});
