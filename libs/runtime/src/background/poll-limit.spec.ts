import { jest } from '@jest/globals';
import { PollLimit } from './poll-limit.js';

describe('PollLimit', () => {
  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  afterAll(() => clock.mockRestore());

  it('pauses after a poll, also a failed one, for twice its duration or until it is reset', async () => {
    const limit = new PollLimit();
    expect(limit.isPaused).toBe(false);
    await expect(
      limit.run(() => {
        nowMs += 200;
        return Promise.reject(new Error('failed'));
      }),
    ).rejects.toThrow('failed');
    expect(limit.isPaused).toBe(true);
    nowMs += 399;
    expect([limit.isPaused, limit.pauseMs]).toEqual([true, 1]);
    nowMs += 1;
    expect(limit.isPaused).toBe(false);
    nowMs -= 1; // paused, until the reset
    expect(limit.isPaused).toBe(true);
    limit.reset();
    expect(limit.isPaused).toBe(false);
  });
});
