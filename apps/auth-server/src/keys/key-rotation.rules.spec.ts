import { isRotationDue, type KeyTimes, minPublishedMs, propagationWaitMs } from './key-rotation.rules.js';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const dayMs = 86_400_000;
/** Returns an active key that has signed for `activeForMs`, and a next key published `nextForMs` ago. */
const keys = (times: { readonly activeForMs?: number; readonly nextForMs: number }): KeyTimes[] => {
  const { activeForMs = 90 * dayMs, nextForMs } = times;
  return [
    { state: 'active', created_at: ago(activeForMs + dayMs), activated_at: ago(activeForMs) },
    { state: 'next', created_at: ago(nextForMs), activated_at: null },
  ];
};

describe('the scheduled rotation of signing keys', () => {
  it('is due when the active key has signed for the configured days, and not a millisecond earlier', () => {
    expect(isRotationDue(keys({ activeForMs: 90 * dayMs, nextForMs: dayMs }), 90, now)).toBe(true);
    expect(isRotationDue(keys({ activeForMs: 90 * dayMs - 1, nextForMs: dayMs }), 90, now)).toBe(false);
  });

  it('is not due while an API may not have read the next key', () => {
    expect(isRotationDue(keys({ nextForMs: minPublishedMs - 1 }), 90, now)).toBe(false);
    expect(isRotationDue(keys({ nextForMs: minPublishedMs }), 90, now)).toBe(true);
    const newKey: KeyTimes = { state: 'next', created_at: now, activated_at: null };
    expect(isRotationDue([...keys({ nextForMs: dayMs }), newKey], 90, now)).toBe(false);
  });

  it('may be due every day', () => {
    expect(isRotationDue(keys({ activeForMs: dayMs, nextForMs: dayMs }), 1, now)).toBe(true);
  });

  it('is not due without a next key', () => {
    const onlyActive = keys({ nextForMs: dayMs }).slice(0, 1);
    expect(isRotationDue(onlyActive, 90, now)).toBe(false);
  });

  it('is never due with 0 days or without keys', () => {
    expect(isRotationDue(keys({ activeForMs: 9000 * dayMs, nextForMs: dayMs }), 0, now)).toBe(false);
    expect(isRotationDue([], 90, now)).toBe(false);
  });
});

it('a manual rotation waits until the next key is a second old, and never longer than a second', () => {
  expect(propagationWaitMs(keys({ nextForMs: 5000 }), now)).toBe(0);
  expect(propagationWaitMs(keys({ nextForMs: 400 }), now)).toBe(600);
  expect(propagationWaitMs(keys({ nextForMs: -60_000 }), now)).toBe(1000); // this clock is a minute slow
  expect(propagationWaitMs([], now)).toBe(0);
  expect(propagationWaitMs([{ state: 'active', created_at: now, activated_at: now }], now)).toBe(0);
});
