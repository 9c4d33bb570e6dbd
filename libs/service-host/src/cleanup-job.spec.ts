import { createLogger, Shutdown } from '@fulfilment/runtime';
import { startCleanup } from './cleanup-job.js';

describe('the clean-up of a service', () => {
  it('deletes batches until none is left, also while another job fails', async () => {
    const logger = createLogger('test', 'silent');
    const shutdown = new Shutdown(logger);
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
    startCleanup(
      [
        { name: 'failing rows', intervalMs, deleteBatch: failing },
        { name: 'old rows', intervalMs, deleteBatch },
      ],
      logger,
      shutdown,
    );
    await allDeleted;
    await shutdown.run();
    expect(sizes).toEqual([1000, 1000, 3, 0]);
  });
});
