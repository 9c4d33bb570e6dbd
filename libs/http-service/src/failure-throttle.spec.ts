import { RateLimited } from '@fulfilment/error-envelope';
import { FailureThrottle } from './failure-throttle.js';

const fail = () => Promise.reject(new Error('It failed.'));
const succeed = () => Promise.resolve('done');

describe('FailureThrottle', () => {
  it('rejects a caller that has reached the limit of failures until the window ends, and no other caller', async () => {
    let nowMs = 0;
    const throttle = new FailureThrottle({ requests: 2, windowSeconds: 60 }, () => nowMs);
    await expect(throttle.attempt('one', fail)).rejects.toThrow('It failed.');
    expect(await throttle.attempt('one', succeed)).toBe('done');
    await expect(throttle.attempt('one', fail)).rejects.toThrow('It failed.');
    nowMs = 10_500;
    await expect(throttle.attempt('one', succeed)).rejects.toThrow(RateLimited);
    await expect(throttle.attempt('one', succeed)).rejects.toMatchObject({
      headers: { 'Retry-After': '50' },
    });
    expect(await throttle.attempt('other', succeed)).toBe('done');
    nowMs = 60_000;
    expect(await throttle.attempt('one', succeed)).toBe('done');
  });

  it('runs at most as many concurrent attempts as may still fail; the others wait, and are rejected if these fail', async () => {
    const throttle = new FailureThrottle({ requests: 2, windowSeconds: 60 }, () => 0);
    const running: PromiseWithResolvers<string>[] = [];
    const work = () => {
      const ending = Promise.withResolvers<string>();
      running.push(ending);
      return ending.promise;
    };
    const attempts = Array.from({ length: 4 }, () => throttle.attempt('one', work));
    const settled = Promise.allSettled(attempts);
    const started = () => new Promise((resolve) => setImmediate(() => resolve(running.length)));
    expect(await started()).toBe(2);
    running[0]?.resolve('done');
    expect(await started()).toBe(3);
    running[1]?.reject(new Error('It failed.'));
    expect(await started()).toBe(3);
    running[2]?.reject(new Error('It failed.'));
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(running).toHaveLength(3);
    await expect(attempts[3]).rejects.toThrow(RateLimited);
  });
});
