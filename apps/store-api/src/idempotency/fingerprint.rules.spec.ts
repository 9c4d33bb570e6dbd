import { fingerprint } from './fingerprint.rules.js';

describe('fingerprint', () => {
  it('is the same whatever the order of members, and without absent ones', () => {
    expect(fingerprint({ a: 1, b: { c: [1, 2], d: undefined } })).toEqual(
      fingerprint({ b: { c: [1, 2] }, a: 1 }),
    );
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: '1' }, { a: 1 }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: { b: 1 } }, { a: [{ b: 1 }] }],
    [{ ab: 'c' }, { a: 'bc' }],
  ])('tells %j from %j', (one, other) => {
    expect(fingerprint(one)).not.toEqual(fingerprint(other));
  });
});
