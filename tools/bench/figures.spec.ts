import { figure, isMet, median, formatTable } from './figures.ts';

describe('figures', () => {
  it('are the median of all rounds, so one slow round does not change them', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(figure('ratio', [0.5, 0.1, 0.6], 'x')).toMatchObject({ value: 0.5, rounds: [0.5, 0.1, 0.6] });
  });

  it('meet a target at its bound, but not if nothing was measured', () => {
    expect(isMet(figure('ratio', [], 'x', { atLeast: 0.5 }))).toBe(false);
    expect(isMet(figure('time', [3], 's', { atMost: 3 }))).toBe(true);
  });

  it('show their target and whether it was met', () => {
    const [met, missed] = formatTable([
      figure('refresh', [0.4], 'x', { atLeast: 0.35 }),
      figure('memory', [300], 'MB', { atMost: 250 }),
    ]);
    expect(met).toContain('✓ at least 0.35');
    expect(missed).toContain('✗ at most 250');
  });
});
