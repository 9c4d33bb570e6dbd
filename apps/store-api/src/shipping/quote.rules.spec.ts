import { Unprocessable } from '@fulfilment/error-envelope';
import { requireUsableQuote, shippingPrice } from './quote.rules.js';
import type { Quote } from './sealed-quotes.js';

const now = new Date('2026-11-20T12:00:00Z');
const quote: Quote = {
  serviceId: '01920000-0000-7000-8000-000000000001',
  countryCode: 'GB',
  currency: 'GBP',
  amount: 285,
  weightGrams: 1000,
  expiresAt: new Date('2026-11-20T12:00:01Z'),
};

describe('a quote', () => {
  const problemOf = (countryCode: string, time: Date) => {
    try {
      requireUsableQuote(quote, countryCode, time);
      return undefined;
    } catch (error) {
      return error instanceof Unprocessable ? error.details : error;
    }
  };

  it('is usable for its country until it expires', () => {
    expect(problemOf('GB', now)).toBeUndefined();
    expect(problemOf('GB', quote.expiresAt)).toEqual([{ field: 'shipping_rate_id', reason: 'expired' }]);
    expect(problemOf('FR', now)).toEqual([{ field: 'shipping_rate_id', reason: 'other_country' }]);
  });
});

describe('the shipping price of an order', () => {
  const bands = [{ maxWeightGrams: 2000, amount: 400, extra500gAmount: 50 }];
  const linesOf = (quantity: number) => [{ weightGrams: 500, quantity }];

  it('is the quoted price if the parcel has the quoted weight, even if the service no longer ships there', () => {
    expect(shippingPrice(quote, bands, linesOf(2))).toBe(285);
    expect(shippingPrice(quote, null, linesOf(2))).toBe(285);
  });

  it('is the current price for another weight, and for a quote without items', () => {
    expect(shippingPrice(quote, bands, linesOf(3))).toBe(400);
    expect(shippingPrice({ ...quote, weightGrams: undefined }, bands, linesOf(2))).toBe(400);
  });

  it.each([
    ['no longer ships to the country', null],
    ['has no prices', []],
  ])('is rejected for each line when the service %s', (_, currentBands) => {
    const lines = [...linesOf(1), ...linesOf(2)];
    expect(() => shippingPrice(quote, currentBands, lines)).toThrow(
      expect.objectContaining({
        details: [
          { field: 'items.0.sku', reason: 'not_shippable_to_country' },
          { field: 'items.1.sku', reason: 'not_shippable_to_country' },
        ],
      }),
    );
  });
});
