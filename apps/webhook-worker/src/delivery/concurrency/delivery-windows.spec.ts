import type { Exchange } from '@fulfilment/guarded-fetch';
import { anAttempt } from '../attempt.fixture.js';
import { DeliveryWindows } from './delivery-windows.js';
import { initialWindow } from './window.rules.js';

const url = 'https://receiver.example/hook';
const delivery = { subscriptionId: 'a', url, test: false };
const atStart = { reductions: 0, isFull: true };
const { exchange } = anAttempt('a');
const failed: Exchange = { ...exchange, outcome: 'timeout', statusCode: undefined, durationMs: 15_000 };

describe('the windows of a process', () => {
  let windows: DeliveryWindows;
  beforeEach(() => {
    windows = new DeliveryWindows();
    windows.getForUrl('a', url);
    windows.getForUrl('b', url);
  });
  const sizeOf = (subscriptionId: string): number => windows.get(subscriptionId).window.size;

  it('change with the results of their own subscription only', () => {
    windows.record(delivery, atStart, failed);
    const initial = initialWindow.size;
    expect([sizeOf('a'), sizeOf('b'), sizeOf('unknown')]).toEqual([initial / 2, initial, initial]);
  });

  it('are changed neither by test events nor by failures on our side', () => {
    windows.record({ ...delivery, test: true }, atStart, failed);
    windows.record(delivery, atStart, { ...failed, isLocalFailure: true });
    expect(windows.get('a')).toEqual({ url, window: initialWindow });
  });

  it('have the initial size for a new URL, which results of the old URL do not change', () => {
    windows.record(delivery, atStart, failed);
    expect(windows.getForUrl('a', 'https://new.example/')).toEqual(initialWindow);
    windows.record(delivery, atStart, failed);
    expect(sizeOf('a')).toBe(initialWindow.size);
  });
});
