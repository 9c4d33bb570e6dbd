import { RateLimited } from '@fulfilment/error-envelope';
import { FailureThrottle } from './failure-throttle.js';

describe('FailureThrottle', () => {
  it('rejects a caller that has failed as often as it may, until the window ends, and no other caller', () => {
    let nowMs = 0;
    const throttle = new FailureThrottle({ requests: 2, windowSeconds: 60 }, () => nowMs);
    throttle.check('one');
    throttle.countFailure('one');
    throttle.check('one');
    throttle.countFailure('one');
    nowMs = 10_500;
    expect(() => throttle.check('one')).toThrow(RateLimited);
    expect(() => throttle.check('one')).toThrow(
      expect.objectContaining({ headers: { 'Retry-After': '50' } }),
    );
    throttle.check('other');
    nowMs = 60_000;
    throttle.check('one');
  });
});
