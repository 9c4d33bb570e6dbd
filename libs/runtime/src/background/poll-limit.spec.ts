import { PollLimit } from './poll-limit.js';
import { setTimeout as delay } from 'node:timers/promises';

describe('the limit of polls', () => {
  it('rests after a slow poll, even if that failed, until it is reset', async () => {
    const limit = new PollLimit();
    expect(limit.isResting).toBe(false);
    await expect(
      limit.measure(async () => {
        await delay(200);
        throw new Error('failed');
      }),
    ).rejects.toThrow('failed');
    expect(limit.isResting).toBe(true);
    limit.reset();
    expect(limit.isResting).toBe(false);
  });
});
