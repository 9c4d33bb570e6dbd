import { uuidv7 } from '@fulfilment/contracts';
import { randomBytes } from 'node:crypto';
import { type Quote, SealedQuotes } from './sealed-quotes.js';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const creatorId = uuidv7();
const quote: Quote = {
  serviceId: uuidv7(),
  countryCode: 'JP',
  currency: 'JPY',
  amount: Number.MAX_SAFE_INTEGER,
  weightGrams: 100_000_000,
  expiresAt: new Date('2026-11-24T02:00:00Z'),
};
const quotes = new SealedQuotes([oldKey]);
const rateId = quotes.seal(creatorId, quote);

describe('a sealed quote', () => {
  it.each([
    ['a weight', quote],
    ['no weight', { ...quote, weightGrams: undefined }],
    ['the weight and the price 0', { ...quote, weightGrams: 0, amount: 0 }],
  ])('with %s opens as it was sealed', (_, sealed) => {
    expect(quotes.open(creatorId, quotes.seal(creatorId, sealed))).toEqual(sealed);
  });

  it('keeps its form, so that each version opens the quotes of others', () => {
    const quotesOfKey = new SealedQuotes([Buffer.alloc(32, 1)]);
    const fixed = { ...quote, serviceId: '01920000-0000-7000-8000-000000000001' };
    expect(
      quotesOfKey.seal('01920000-0000-7000-8000-000000000002', { ...fixed, weightGrams: undefined }),
    ).toBe('rate_cs1uhAGSAAAAAHAAgAAAAAAAAAFKUEpQWQAf_____________2sE76CKTaDFKIkvlhes_PNx9DeW');
  });

  it('expires at a whole second', () => {
    const sealed = quotes.seal(creatorId, { ...quote, expiresAt: new Date('2026-11-24T02:00:00.999Z') });
    expect(quotes.open(creatorId, sealed)).toEqual(quote);
  });

  it('needs a key', () => {
    expect(() => new SealedQuotes([])).toThrow('No key');
  });

  it('does not open for another creator', () => {
    expect(quotes.open(uuidv7(), rateId)).toBeUndefined();
  });

  it('does not open after any of its digits has changed', () => {
    const opened = [...rateId].map((digit, index) => {
      const changed = rateId.slice(0, index) + (digit === 'A' ? 'B' : 'A') + rateId.slice(index + 1);
      return quotes.open(creatorId, changed);
    });
    expect(new Set(opened)).toEqual(new Set([undefined]));
  });

  it.each([
    '',
    'rate_',
    'rate_00000000000000000000000000',
    `${rateId}A`,
    `x${rateId}`,
    rateId.slice(0, -1),
    `rate_${'+'.repeat(76)}`,
  ])('does not open from "%s"', (text) => {
    expect(quotes.open(creatorId, text)).toBeUndefined();
  });

  it('opens with its key while that is among the keys, and is sealed with the newest', () => {
    const rotated = new SealedQuotes([newKey, oldKey]);
    expect(rotated.open(creatorId, rateId)).toEqual(quote);
    const after = new SealedQuotes([newKey]);
    expect(after.open(creatorId, rateId)).toBeUndefined();
    expect(after.open(creatorId, rotated.seal(creatorId, quote))).toEqual(quote);
  });
});
