import { maxMonths, requestedMonths } from './months.rules.js';

const now = new Date('2026-11-23T05:00:00Z');
const rangeOf = (requested: Parameters<typeof requestedMonths>[0]) => requestedMonths(requested, now).range;

describe('requestedMonths', () => {
  it('returns the last twelve months by default, the current one included', () => {
    expect(rangeOf({})).toEqual({ from: '2025-12', to: '2026-11' });
  });

  it('returns twelve months from the first or up to the last, if only one of them is given', () => {
    expect(rangeOf({ from: '2024-02' })).toEqual({ from: '2024-02', to: '2025-01' });
    expect(rangeOf({ to: '2024-02' })).toEqual({ from: '2023-03', to: '2024-02' });
  });

  it('returns no month before 0001-01 or after 9999-12', () => {
    expect(rangeOf({ from: '9999-05' }).to).toBe('9999-12');
    expect(rangeOf({ to: '0001-05' }).from).toBe('0001-01');
  });

  it.each([
    [{ from: '2025-11', to: '2026-02' }, ['2025-11', '2025-12', '2026-01', '2026-02']],
    [{ from: '2026-02', to: '2026-02' }, ['2026-02']],
  ])('returns all months of %j, including the first and the last', (requested, months) => {
    expect(requestedMonths(requested, now).months).toEqual(months);
  });

  it('returns at most 36 months', () => {
    expect(requestedMonths({ from: '2023-02', to: '2026-01' }, now).months).toHaveLength(maxMonths);
  });

  it('rejects months of the year 0000', () => {
    const reason = 'must be a month from 0001-01 on';
    for (const requested of [{ from: '0000-12' }, { to: '0000-12' }, { from: '0000-01', to: '0000-02' }])
      expect(() => requestedMonths(requested, now)).toThrow(
        expect.objectContaining({ details: Object.keys(requested).map((field) => ({ field, reason })) }),
      );
  });

  it.each([
    [{ from: '2026-02', to: '2026-01' }, 'must not be after `to`'],
    [{ from: '2023-01', to: '2026-01' }, 'must be at most 35 months before `to`'],
  ])('rejects the range %j', (requested, reason) => {
    expect(() => requestedMonths(requested, now)).toThrow(
      expect.objectContaining({ details: [{ field: 'from', reason }] }),
    );
  });
});
