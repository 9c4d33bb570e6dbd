import { isRotationDue, type KeyTimes, publishedAheadMs, spreadWaitMs } from './key-rotation.rules.js';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const dayMs = 86_400_000;
const pair = (activeForMs: number, publishedForMs: number): KeyTimes[] => [
  { state: 'active', created_at: ago(activeForMs + dayMs), activated_at: ago(activeForMs) },
  { state: 'next', created_at: ago(publishedForMs), activated_at: null },
];

describe('the schedule of signing keys', () => {
  it('rotates when the active key has signed for as many days, and not a moment before', () => {
    expect(isRotationDue(pair(90 * dayMs, dayMs), 90, now)).toBe(true);
    expect(isRotationDue(pair(90 * dayMs - 1, dayMs), 90, now)).toBe(false);
  });

  it('never lets a key sign that an API may not have read yet', () => {
    expect(isRotationDue(pair(90 * dayMs, publishedAheadMs - 1), 90, now)).toBe(false);
    expect(isRotationDue(pair(90 * dayMs, publishedAheadMs), 90, now)).toBe(true);
    expect(isRotationDue(pair(90 * dayMs, 0).slice(0, 1), 90, now)).toBe(false);
  });

  it('is off at 0 days, and where there are no keys yet', () => {
    expect(isRotationDue(pair(9000 * dayMs, dayMs), 0, now)).toBe(false);
    expect(isRotationDue([], 90, now)).toBe(false);
  });

  it('has a rotation by hand wait until the next key is a second old, and never longer', () => {
    expect(spreadWaitMs(pair(0, 5000), now)).toBe(0);
    expect(spreadWaitMs(pair(0, 400), now)).toBe(600);
    expect(spreadWaitMs(pair(0, -60_000), now)).toBe(1000); // a clock that runs behind
    expect(spreadWaitMs([], now)).toBe(0);
  });
});
