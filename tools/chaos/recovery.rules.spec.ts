import { effectOf } from './recovery.rules.ts';

const order = (startedAtMs: number, acceptedAtMs: number) => ({
  id: 'ord_1',
  key: 'key',
  units: 1,
  startedAtMs,
  acceptedAtMs,
});

describe('the effect of a step on clients', () => {
  const step = { name: 'fail Redis over', fromMs: 1_000, restoredAtMs: 5_000 };

  it('consists of the outage, failed attempts, the longest gap between orders and the slowest order', () => {
    const accepted = [order(900, 950), order(990, 1_100), order(1_200, 4_600), order(4_700, 8_500)];
    expect(effectOf(step, Infinity, { accepted, failedAttempts: [{ atMs: 1_500, reason: '503' }] })).toEqual({
      name: 'fail Redis over',
      unavailableMs: 4_000,
      failedAttempts: 1,
      longestGapMs: 3_900, // from 4_600 to 8_500, the first after the effect ended (at 8_000)
      slowestMs: 3_800,
      orders: 3, // the first was accepted before the step
    });
  });

  it('ends when the next step begins', () => {
    const seen = { accepted: [], failedAttempts: [{ atMs: 5_500, reason: '503' }] };
    expect(effectOf(step, 5_400, seen)).toMatchObject({ failedAttempts: 0, longestGapMs: 4_400 });
  });
});
