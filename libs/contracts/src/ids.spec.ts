import fc from 'fast-check';
import { isUuid, parsePublicId, publicId, uuidv7 } from './ids.js';

describe('ids', () => {
  it('map every UUID to a public id and back', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parsePublicId('ord', publicId('ord', uuid))).toBe(uuid);
      }),
    );
  });

  it.each([
    'ord_',
    'ord_x',
    'prod_00000000000000000000000000',
    'ord_zzzzzzzzzzzzzzzzzzzzzzzzzz',
    'ord_0000000000000000000000000u',
    '',
  ])('of orders are not %p', (text) => {
    expect(parsePublicId('ord', text)).toBeUndefined();
  });

  it('are UUIDs of version 7 that sort by time', () => {
    const earlier = uuidv7(new Date('2026-01-01T00:00:00.000Z'));
    const later = uuidv7(new Date('2026-01-01T00:00:00.001Z'));
    expect(isUuid(earlier)).toBe(true);
    expect(earlier.charAt(14)).toBe('7');
    expect(earlier < later).toBe(true);
  });
});
