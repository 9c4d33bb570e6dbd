import { type Finding, formatReport } from './report.ts';

describe('the report', () => {
  const findings: Finding[] = [{ service: 'creator-api', column: 'schema', text: 'An order was lost.' }];

  it('says "no" for the service and column of a finding, and gives the reason', () => {
    const lines = formatReport(findings, new Set(['creator-api', 'store-api']));
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ['creator-api', 'yes', 'yes', 'no', 'yes', 'no'],
        ['store-api', 'yes', 'yes', 'yes', 'yes', 'yes'],
        ['creator-api, schema: An order was lost.'],
      ]),
    );
  });

  it('has no result for a service that was not rolled out', () => {
    const [, row] = formatReport([], new Set());
    expect(row?.split(/ {2,}/)).toEqual(['store-api', 'yes', 'yes', '-', '-', 'unknown']);
  });
});
