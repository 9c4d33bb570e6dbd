import { ValidationFailed } from '@fulfilment/error-envelope';
import fc from 'fast-check';
import { SignedCursors } from './signed-cursors.js';

const cursors = new SignedCursors('a cursor secret of the tests, long enough');
const key = fc.record({ micros: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), id: fc.uuid() });
const bindings = fc.array(fc.option(fc.string(), { nil: undefined }), { minLength: 1, maxLength: 6 });

describe('signed cursors', () => {
  it('open to the key that was sealed', () => {
    fc.assert(
      fc.property(bindings, key, (boundTo, last) => {
        expect(cursors.open(boundTo, cursors.seal(boundTo, last))).toEqual(last);
      }),
    );
  });

  it('lead to the next page if there is a row more than the page has', () => {
    const rows = [3, 2, 1].map((micros) => ({ micros, id: `row-${micros}` }));
    const pageOf = (limit: number) => cursors.page(rows, limit, ['list'], (row) => row);
    expect(pageOf(3)).toEqual({ page: rows, pagination: { next_cursor: null, has_more: false } });
    const { page, pagination } = pageOf(2);
    expect([page, pagination.has_more]).toEqual([rows.slice(0, 2), true]);
    expect(cursors.open(['list'], pagination.next_cursor ?? '')).toEqual(rows[1]);
    expect(cursors.page([], 2, ['list'], () => ({ micros: 0, id: '' })).pagination).toEqual({
      next_cursor: null,
      has_more: false,
    });
  });

  it.each([
    ['cursor', 'is not a cursor of this list'],
    ['after', 'is not a position of this feed'],
  ] as const)('do not open with characters around them: the parameter %s %s', (parameter, reason) => {
    const sealed = cursors.seal(['list'], { micros: 1, id: 'row' });
    for (const text of [` ${sealed}`, `${sealed} `])
      expect(() => cursors.open(['list'], text, parameter)).toThrow(
        expect.objectContaining({ details: [{ field: parameter, reason }] }),
      );
  });

  it('do not open for another list, creator or filter', () => {
    fc.assert(
      fc.property(bindings, bindings, key, (boundTo, other, last) => {
        fc.pre(JSON.stringify(boundTo) !== JSON.stringify(other));
        expect(() => cursors.open(other, cursors.seal(boundTo, last))).toThrow(ValidationFailed);
      }),
    );
  });

  it('do not open when any one character is changed', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    fc.assert(
      fc.property(key, fc.nat(), fc.constantFrom(...alphabet), (last, place, character) => {
        const sealed = cursors.seal(['list'], last);
        const index = place % sealed.length;
        fc.pre(sealed[index] !== character);
        expect(() =>
          cursors.open(['list'], sealed.slice(0, index) + character + sealed.slice(index + 1)),
        ).toThrow(ValidationFailed);
      }),
    );
  });

  it('do not open with another secret', () => {
    const others = new SignedCursors('another cursor secret of the tests, long enough');
    const sealed = cursors.seal(['list'], { micros: 1, id: 'a' });
    expect(() => others.open(['list'], sealed)).toThrow(ValidationFailed);
  });

  it('open with each secret during a rotation, and are sealed with the first', () => {
    const [older, newer] = [
      'an older secret of the tests that is long enough',
      'a newer secret of the tests that is long enough',
    ];
    const [before, appended, moved, after] = [older, `${older},${newer}`, `${newer},${older}`, newer].map(
      (setting) => new SignedCursors(setting),
    );
    const last = { micros: 1, id: 'a' };
    const opens = (by: SignedCursors | undefined, sealer: SignedCursors | undefined): boolean => {
      try {
        return by?.open(['list'], sealer?.seal(['list'], last) ?? '') !== undefined;
      } catch {
        return false;
      }
    };
    // Neighbouring steps run at the same time on the replicas of a service.
    const steps = [before, appended, moved, after];
    for (const [index, step] of steps.entries())
      for (const other of steps.slice(Math.max(0, index - 1), index + 2))
        expect(opens(step, other)).toBe(true);
    expect(opens(after, before)).toBe(false);
  });

  it('treat a setting with a comma and a part that is too short for a secret as one secret', () => {
    const secret = 'a secret, as it was accepted before rotation existed';
    const sealed = new SignedCursors(secret).seal(['list'], { micros: 1, id: 'a' });
    expect(() => new SignedCursors('a secret').open(['list'], sealed)).toThrow(ValidationFailed);
  });

  it('report the parameter `cursor` for any invalid text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          cursors.open(['list'], text);
          throw new Error('It opened.');
        } catch (error) {
          expect(error).toMatchObject({ details: [{ field: 'cursor' }] });
        }
      }),
    );
  });
});
