import fc from 'fast-check';
import { idempotencyKeyHeader, parseIdempotencyKey } from './idempotency-key.js';

describe('an idempotency key', () => {
  const documented = new RegExp(idempotencyKeyHeader.schema.pattern ?? '', 'u');

  it('is accepted exactly when the API reference allows it', () => {
    const characters = fc.constantFrom('"', '!', '~', 'a', ' ', '\u007f', 'é');
    const keys = fc.oneof(
      fc.string({ unit: characters, maxLength: 6 }),
      fc
        .tuple(fc.constantFrom('', '"'), fc.integer({ min: 250, max: 260 }), fc.constantFrom('', '"'))
        .map(([before, length, after]) => `${before}${'k'.repeat(length)}${after}`),
    );
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseIdempotencyKey(key) !== undefined).toBe(documented.test(key));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read without one pair of enclosing quotes', () => {
    expect(parseIdempotencyKey('a-1')).toBe('a-1');
    expect(parseIdempotencyKey('"a-1"')).toBe('a-1');
    expect(parseIdempotencyKey('""a""')).toBe('"a"');
    expect(parseIdempotencyKey('""')).toBeUndefined();
  });
});
