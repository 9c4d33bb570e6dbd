import fc from 'fast-check';
import { formatUuid, isUuid, parsePublicId, publicId, uuid, uuidv7 } from './ids.js';

describe('parsePublicId', () => {
  it('returns the UUID of every public id', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(parsePublicId('ord', publicId('ord', id))).toBe(id);
      }),
    );
  });

  it.each([
    'ord_',
    'ord_x',
    'prod_00000000000000000000000000',
    'ord_zzzzzzzzzzzzzzzzzzzzzzzzzz', // more than 128 bits
    'ord_0000000000000000000000000u', // Crockford base32 has no u
    '',
  ])('returns undefined for %p, which is not the id of an order', (text) => {
    expect(parsePublicId('ord', text)).toBeUndefined();
  });
});

describe('a UUID', () => {
  it('is valid with any version and variant', () => {
    const hexadecimalDigit = fc.constantFrom(...'0123456789abcdef');
    fc.assert(
      fc.property(fc.string({ unit: hexadecimalDigit, minLength: 32, maxLength: 32 }), (digits) => {
        const id = formatUuid(digits);
        expect(isUuid(id)).toBe(true);
        expect(uuid.safeParse(id)).toEqual({ success: true, data: id });
      }),
    );
  });
});

describe('uuidv7', () => {
  it('returns distinct UUIDs of version 7 that sort in the order of their creation', () => {
    const ids = Array.from({ length: 1000 }, () => uuidv7());
    expect(new Set(ids).size).toBe(1000);
    expect(ids).toEqual(ids.toSorted());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  });

  it('returns distinct UUIDs for one given time', () => {
    const time = new Date();
    expect(new Set(Array.from({ length: 1000 }, () => uuidv7(time))).size).toBe(1000);
  });

  it('returns UUIDs of version 7 that sort by the given time', () => {
    const earlier = uuidv7(new Date('2026-01-01T00:00:00.000Z'));
    const later = uuidv7(new Date('2026-01-01T00:00:00.001Z'));
    expect(isUuid(earlier)).toBe(true);
    expect(earlier.charAt(14)).toBe('7');
    expect(earlier < later).toBe(true);
  });
});
