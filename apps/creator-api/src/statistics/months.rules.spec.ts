import { monthRange, monthsOf } from './months.rules.js';

const now = new Date('2026-11-23T05:00:00Z');

describe('the months of a series', () => {
  it('are the last twelve by default, the current one included', () => {
    expect(monthRange({}, now)).toEqual({ from: '2025-12', to: '2026-11' });
  });

  it('are twelve from the first or up to the last, if only one of them is given', () => {
    expect(monthRange({ from: '2024-02' }, now)).toEqual({ from: '2024-02', to: '2025-01' });
    expect(monthRange({ to: '2024-02' }, now)).toEqual({ from: '2023-03', to: '2024-02' });
  });

  it('do not go beyond the years 0000 and 9999', () => {
    expect(monthRange({ from: '9999-05' }, now).to).toBe('9999-12');
    expect(monthRange({ to: '0000-05' }, now).from).toBe('0000-01');
  });

  it('include both ends, over the end of a year, and are none if the range ends before it begins', () => {
    expect(monthsOf({ from: '2025-11', to: '2026-02' })).toEqual([
      '2025-11',
      '2025-12',
      '2026-01',
      '2026-02',
    ]);
    expect(monthsOf({ from: '2026-02', to: '2026-02' })).toEqual(['2026-02']);
    expect(monthsOf({ from: '2026-02', to: '2026-01' })).toEqual([]);
  });
});
