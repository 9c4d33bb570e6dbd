import { setImmediate } from 'node:timers/promises';
import { latenciesAtRate } from './fixed-rate.ts';

describe('latenciesAtRate', () => {
  it('rejects with the error of a request that failed while later ones were sent, and leaves no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const record = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', record);
    let calls = 0;
    const call = async (): Promise<void> => {
      calls += 1;
      if (calls === 1) throw new Error('the first request failed');
      await setImmediate();
    };
    try {
      const [perSecond, durationMs] = [100, 50]; // five requests
      await expect(latenciesAtRate(call, perSecond, durationMs)).rejects.toThrow('the first request failed');
      expect(calls).toBe(5);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', record);
    }
  });
});
