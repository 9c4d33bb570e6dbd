import { jest } from '@jest/globals';
import { PollLimit } from './poll-limit.js';

describe('the limit of polls', () => {
  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  afterAll(() => clock.mockRestore());

  it('rests after a slow poll, even if that failed, for twice its time or until it is reset', async () => {
    const limit = new PollLimit();
    expect(limit.isResting).toBe(false);
    await expect(
      limit.measure(() => {
        nowMs += 200;
        return Promise.reject(new Error('failed'));
      }),
    ).rejects.toThrow('failed');
    expect(limit.isResting).toBe(true);
    nowMs += 399;
    expect(limit.isResting).toBe(true);
    nowMs += 1;
    expect(limit.isResting).toBe(false);
    nowMs -= 1;
    limit.reset();
    expect(limit.isResting).toBe(false);
  });
});
