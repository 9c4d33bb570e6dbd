import { type ServiceName, serviceNames } from '../dev/ports.ts';

export const columns = ['HTTP', 'messages', 'schema', 'mixed'] as const;
export type Column = (typeof columns)[number];

/** Something that breaks when a service is deployed. */
export interface Finding {
  readonly service: ServiceName;
  readonly column: Column;
  readonly text: string;
}

export function canDeploy(service: ServiceName, findings: readonly Finding[]): boolean {
  return findings.every((one) => one.service !== service);
}

/** The table of what can be deployed on its own, and below it the reasons against. */
export function formatReport(findings: readonly Finding[], examined: readonly Column[]): string[] {
  const width = Math.max(...serviceNames.map(({ length }) => length));
  const row = (...cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(index === 0 ? width + 2 : 15))
      .join('')
      .trimEnd();
  const verdict = (service: ServiceName, column: Column): string => {
    if (!examined.includes(column)) return '-';
    return findings.some((one) => one.service === service && one.column === column) ? 'no' : 'yes';
  };
  return [
    row('service', ...columns, 'can deploy'),
    ...serviceNames.map((service) =>
      row(
        service,
        ...columns.map((column) => verdict(service, column)),
        canDeploy(service, findings) ? 'yes' : 'no',
      ),
    ),
    ...(findings.length === 0 ? [] : ['']),
    ...findings.map(({ service, column, text }) => `${service}, ${column}: ${text}`),
  ];
}
