import { maxAmount, type OrderStatus, orderStatuses } from '@fulfilment/contracts';
import fc from 'fast-check';
import { canTransition, countPieces, orderTotal, statusesByAction, transitions } from './order.rules.js';

describe("an order's total", () => {
  it('is exact up to the largest amount, and undefined above it', () => {
    expect(orderTotal([{ price: maxAmount, quantity: 1 }], 0)).toBe(maxAmount);
    expect(orderTotal([{ price: maxAmount, quantity: 1 }], 1)).toBeUndefined();
    expect(orderTotal([{ price: maxAmount, quantity: 1000 }], 0)).toBeUndefined();
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
        expect(orderTotal(lines, shipping)).toBe(Number(exact));
      }),
    );
  });
});

describe("an order's number of pieces", () => {
  it('is the sum over all lines', () => {
    expect(countPieces([{ quantity: 2 }, { quantity: 3 }])).toBe(5);
  });
});

describe('a fulfilment event', () => {
  it('is never both applied and deferred in a status', () => {
    for (const { applied, deferred } of Object.values(statusesByAction))
      expect(applied.filter((status) => deferred.includes(status))).toEqual([]);
  });
});

describe('the table of transitions', () => {
  it('never returns to an earlier status', () => {
    // Would not end if a status could return.
    const reachable = (from: OrderStatus): OrderStatus[] =>
      transitions[from].flatMap((next) => [next, ...reachable(next)]);
    for (const status of orderStatuses) expect(reachable(status)).not.toContain(status);
  });

  it('allows no path that visits a status twice or skips a required one', () => {
    const sequences = fc.array(fc.constantFrom(...orderStatuses), { maxLength: 20 });
    fc.assert(
      fc.property(sequences, (tried) => {
        const path: OrderStatus[] = ['pending'];
        for (const status of tried) if (canTransition(path.at(-1) ?? 'pending', status)) path.push(status);
        expect(new Set(path).size).toBe(path.length);
        expect(path.includes('cancelled') && path.includes('shipped')).toBe(false);
        expect(path.includes('delivered') && !path.includes('shipped')).toBe(false);
        expect(path.includes('shipped') && !path.includes('processing')).toBe(false);
      }),
    );
  });

  it('ends in delivered and cancelled', () => {
    for (const status of orderStatuses) {
      expect(canTransition('delivered', status)).toBe(false);
      expect(canTransition('cancelled', status)).toBe(false);
    }
  });
});
