import { isRotationDue, type KeyTimes, minPublishedMs, propagationWaitMs } from './key-rotation.rules.js';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const dayMs = 86_400_000;
const pair = (activeForMs: number, publishedForMs: number): KeyTimes[] => [
  { state: 'active', created_at: ago(activeForMs + dayMs), activated_at: ago(activeForMs) },
  { state: 'next', created_at: ago(publishedForMs), activated_at: null },
];

describe('the scheduled rotation of signing keys', () => {
  it('is due when the active key has signed for the configured days, and not a millisecond earlier', () => {
    expect(isRotationDue(pair(90 * dayMs, dayMs), 90, now)).toBe(true);
    expect(isRotationDue(pair(90 * dayMs - 1, dayMs), 90, now)).toBe(false);
  });

  it('is not due while an API may not have read the next key', () => {
    expect(isRotationDue(pair(90 * dayMs, minPublishedMs - 1), 90, now)).toBe(false);
    expect(isRotationDue(pair(90 * dayMs, minPublishedMs), 90, now)).toBe(true);
    expect(isRotationDue(pair(90 * dayMs, 0).slice(0, 1), 90, now)).toBe(false);
  });

  it('is never due with 0 days or without keys', () => {
    expect(isRotationDue(pair(9000 * dayMs, dayMs), 0, now)).toBe(false);
    expect(isRotationDue([], 90, now)).toBe(false);
  });

  it('makes a manual rotation wait until the next key is a second old, and never longer', () => {
    expect(propagationWaitMs(pair(0, 5000), now)).toBe(0);
    expect(propagationWaitMs(pair(0, 400), now)).toBe(600);
    expect(propagationWaitMs(pair(0, -60_000), now)).toBe(1000); // a clock that runs behind
    expect(propagationWaitMs([], now)).toBe(0);
  });
});
