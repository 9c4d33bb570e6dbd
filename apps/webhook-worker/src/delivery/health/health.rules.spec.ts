import { healthAfterAttempts, type Health } from './health.rules.js';

const healthy: Health = {
  status: 'active',
  consecutiveFailures: 0,
  failingSince: null,
  lastDeliveryAt: null,
  lastFailureAt: null,
  disabledAt: null,
  disabledReason: null,
  latencyMs: 0,
  lane: 'fast',
  failureNotified: false,
};
const limits = { failures: 20, afterMs: 72 * 3_600_000 };
const now = new Date('2026-11-20T12:00:00Z');
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);
const success = { succeeded: true, gone: false, exhausted: false, durationMs: 50 };
const failure = { succeeded: false, gone: false, exhausted: false, durationMs: 50 };
const failures = (count: number) => Array.from({ length: count }, () => failure);

describe('the health of a subscription after attempts', () => {
  it('counts the failures since the last success, in the order in which attempts ended', () => {
    expect(healthAfterAttempts(healthy, [failure, success, failure, failure], now, limits)).toMatchObject({
      consecutiveFailures: 2,
      failingSince: now,
      lastDeliveryAt: now,
      lastFailureAt: now,
    });
    expect(healthAfterAttempts(healthy, [failure, success], now, limits)).toMatchObject({
      consecutiveFailures: 0,
      failingSince: null,
    });
  });

  it('keeps its latency after a success of unknown duration, because this process stalled', () => {
    const before = { ...healthy, consecutiveFailures: 2, latencyMs: 40 };
    expect(healthAfterAttempts(before, [{ ...success, durationMs: null }], now, limits)).toMatchObject({
      consecutiveFailures: 0,
      latencyMs: 40,
      lane: 'fast',
    });
  });

  it('becomes disabled after enough failures and enough time, but not after only one of the two', () => {
    const burst = healthAfterAttempts(healthy, failures(500), now, limits);
    expect(burst).toMatchObject({ status: 'active', consecutiveFailures: 500 });
    const quiet = { ...healthy, consecutiveFailures: 5, failingSince: hoursAgo(200) };
    expect(healthAfterAttempts(quiet, failures(1), now, limits).status).toBe('active');
    const both = { ...healthy, consecutiveFailures: 19, failingSince: hoursAgo(72) };
    expect(healthAfterAttempts(both, failures(1), now, limits)).toMatchObject({
      status: 'disabled',
      disabledAt: now,
      disabledReason: 'failing',
    });
  });

  it('stays active during an hour of failures, even if the last success was a week ago', () => {
    let health: Health = { ...healthy, lastDeliveryAt: hoursAgo(7 * 24) };
    for (let failed = 0; failed < 20; failed += 1) {
      const at = new Date(now.getTime() + failed * 180_000); // every three minutes
      health = healthAfterAttempts(health, [failure], at, limits);
    }
    expect(health).toMatchObject({ status: 'active', consecutiveFailures: 20, failingSince: now });
  });

  it('restarts the 72 hours with each success', () => {
    const failing = { ...healthy, consecutiveFailures: 19, failingSince: hoursAgo(100) };
    expect(healthAfterAttempts(failing, [success, ...failures(25)], now, limits).status).toBe('active');
  });

  it('keeps the failures that disabled it when an attempt in flight succeeds after them', () => {
    expect(healthAfterAttempts(healthy, [{ ...failure, gone: true }, success], now, limits)).toMatchObject({
      status: 'disabled',
      consecutiveFailures: 1,
      failingSince: now,
      lastDeliveryAt: now,
    });
  });

  it('becomes disabled at once by a 410', () => {
    expect(healthAfterAttempts(healthy, [{ ...failure, gone: true }], now, limits)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
      consecutiveFailures: 1,
    });
  });

  it('stays disabled by the owner, whatever the outcome of running attempts', () => {
    const disabled: Health = {
      ...healthy,
      status: 'disabled',
      disabledAt: hoursAgo(1),
      disabledReason: 'owner',
    };
    expect(healthAfterAttempts(disabled, [success], now, limits)).toMatchObject({
      status: 'disabled',
      disabledReason: 'owner',
    });
    expect(healthAfterAttempts(disabled, [{ ...failure, gone: true }], now, limits)).toMatchObject({
      disabledAt: hoursAgo(1),
      disabledReason: 'owner',
    });
  });

  it('changes to the slow lane after three failures or by latency, and back after recovery', () => {
    expect(healthAfterAttempts(healthy, failures(2), now, limits).lane).toBe('fast');
    const failing = healthAfterAttempts(healthy, failures(3), now, limits);
    expect(failing.lane).toBe('slow');
    expect(healthAfterAttempts(failing, [success], now, limits).lane).toBe('fast');
    // Its weight in the average is 0.2, which makes 2.8 s; above 2 s, a receiver is slow.
    const slow = healthAfterAttempts(healthy, [{ ...success, durationMs: 14_000 }], now, limits);
    expect(slow).toMatchObject({ lane: 'slow', latencyMs: 2_800 });
    expect(
      healthAfterAttempts(
        slow,
        Array.from({ length: 10 }, () => success),
        now,
        limits,
      ).lane,
    ).toBe('fast');
  });

  it.each([success, failure])('is slow only above a mean latency of two seconds, after %j', (attempt) => {
    const laneAt = (latencyMs: number) =>
      healthAfterAttempts({ ...healthy, latencyMs }, [{ ...attempt, durationMs: latencyMs }], now, limits)
        .lane;
    expect([2_000, 2_001].map(laneAt)).toEqual(['fast', 'slow']);
  });

  it('has a notified failure from an exhausted delivery until the next success', () => {
    const notifiedAfter = (...attempts: (typeof failure)[]) =>
      healthAfterAttempts(healthy, attempts, now, limits).failureNotified;
    const exhausted = { ...failure, exhausted: true };
    expect(notifiedAfter(failure)).toBe(false);
    expect(notifiedAfter(exhausted, failure)).toBe(true);
    expect(notifiedAfter(exhausted, success)).toBe(false);
  });
});
