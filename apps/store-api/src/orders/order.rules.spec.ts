import { maxAmount, type OrderStatus } from '@fulfilment/contracts';
import fc from 'fast-check';
import {
  canTransition,
  countPieces,
  currencyMismatchDetails,
  sumWithShipping,
  statusesByAction,
  transitions,
} from './order.rules.js';

describe("an order's total", () => {
  it('is exact up to the largest amount, and undefined above it', () => {
    expect(sumWithShipping([{ price: maxAmount, quantity: 1 }], 0)).toBe(maxAmount);
    expect(sumWithShipping([{ price: maxAmount, quantity: 1 }], 1)).toBeUndefined();
    expect(sumWithShipping([{ price: maxAmount, quantity: 1000 }], 0)).toBeUndefined();
  });

  it('equals the sum in arbitrary precision', () => {
    const line = fc.record({
      price: fc.integer({ min: 0, max: 10 ** 9 }),
      quantity: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 100 }), fc.nat(), (lines, shipping) => {
        const exact = lines.reduce(
          (sum, { price, quantity }) => sum + BigInt(price) * BigInt(quantity),
          BigInt(shipping),
        );
        expect(sumWithShipping(lines, shipping)).toBe(Number(exact));
      }),
    );
  });
});

describe("an order's number of pieces", () => {
  it('is the sum over all lines', () => {
    expect(countPieces([{ quantity: 2 }, { quantity: 3 }])).toBe(5);
  });
});

describe('the items of an order', () => {
  it('must have the currency of the shipping rate, if they have a price', () => {
    const items = [{ unit_price: { currency: 'GBP' } }, {}, { unit_price: { currency: 'USD' } }] as const;
    expect(currencyMismatchDetails(items, 'GBP')).toEqual([
      { field: 'items.2.unit_price.currency', reason: 'must be GBP, the currency of the shipping rate' },
    ]);
  });
});

describe('a fulfilment event', () => {
  it.each([
    ['ship', ['processing', 'shipped', 'delivered'], ['pending']],
    ['correct_tracking', ['shipped', 'delivered'], ['pending', 'processing']],
    ['deliver', ['shipped', 'delivered'], ['pending', 'processing']],
    ['cancel', ['processing', 'payment_failed', 'cancelled'], ['pending']],
  ] as const)('to %s is applied in the statuses %p, and deferred in %p', (action, applied, deferred) => {
    expect(statusesByAction[action]).toEqual({ applied, deferred });
  });

  it('is never both applied and deferred in a status', () => {
    for (const { applied, deferred } of Object.values(statusesByAction))
      expect(applied.filter((status) => deferred.includes(status))).toEqual([]);
  });
});

describe('the table of transitions', () => {
  it('allows only the transitions that it contains', () => {
    expect(canTransition('processing', 'shipped')).toBe(true);
    expect(canTransition('processing', 'cancelled')).toBe(true);
    expect(canTransition('processing', 'delivered')).toBe(false);
    expect(canTransition('cancelled', 'processing')).toBe(false);
  });

  /** Every path from a status to one without transitions. Does not end if a status could return. */
  const pathsFrom = (status: OrderStatus): OrderStatus[][] =>
    transitions[status].length === 0
      ? [[status]]
      : transitions[status].flatMap((next) => pathsFrom(next).map((path) => [status, ...path]));

  it('never returns to an earlier status, and skips no required status', () => {
    expect(pathsFrom('pending')).toEqual([
      ['pending', 'processing', 'shipped', 'delivered'],
      ['pending', 'processing', 'cancelled'],
      ['pending', 'payment_failed', 'processing', 'shipped', 'delivered'],
      ['pending', 'payment_failed', 'processing', 'cancelled'],
      ['pending', 'payment_failed', 'cancelled'],
      ['pending', 'cancelled'],
    ]);
  });
});
