import { evaluateAudit } from './evaluate-audit.ts';

const found = (severity: string) =>
  JSON.stringify({ vulnerabilities: { left: { name: 'left', severity, range: '<2' } } });

describe('the advisory check', () => {
  it.each(['high', 'critical'])('fails on an advisory of %s severity, and names the package', (severity) => {
    expect(evaluateAudit(found(severity))).toEqual({ ok: false, lines: [`${severity}: left <2`] });
  });

  it.each(['low', 'moderate'])('passes an advisory of %s severity', (severity) => {
    expect(evaluateAudit(found(severity)).ok).toBe(true);
  });

  it('fails on a report in another format, which may contain advisories', () => {
    const output = JSON.stringify({ vulnerabilities: { left: { name: 'left', severity: 'critical' } } });
    expect(evaluateAudit(output)).toEqual({ ok: false, lines: [expect.stringContaining('range')] });
  });

  it.each([
    ['an error of the registry', JSON.stringify({ error: { summary: 'connect\nECONNREFUSED' } })],
    ['a message of npm', JSON.stringify({ message: 'request failed' })],
    ['no JSON', 'npm error'],
    ['an empty output', ''],
  ])('reports that nothing was checked, and passes, after %s', (_, output) => {
    const { ok, lines } = evaluateAudit(output);
    expect(ok).toBe(true);
    expect(lines.join()).toMatch(/^NOT CHECKED: /);
  });
});
