import { type ServiceName, serviceNames } from '../dev/ports.ts';

const columns = ['HTTP', 'messages', 'schema', 'mixed'] as const;
export type Column = (typeof columns)[number];

/** Something that breaks when a service is deployed. */
export interface Finding {
  readonly service: ServiceName;
  readonly column: Column;
  readonly text: string;
}

/** Columns that only a roll-out examines. */
const ofRollOut: readonly Column[] = ['schema', 'mixed'];

/**
 * The table of what can be deployed on its own, and below it the reasons against.
 * @param rolledOut the services that a roll-out has reached
 */
export function formatReport(findings: readonly Finding[], rolledOut: ReadonlySet<ServiceName>): string[] {
  const width = Math.max(...serviceNames.map(({ length }) => length));
  const row = (...cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(index === 0 ? width + 2 : 15))
      .join('')
      .trimEnd();
  const verdict = (service: ServiceName, column: Column): string => {
    if (ofRollOut.includes(column) && !rolledOut.has(service)) return '-';
    return findings.some((one) => one.service === service && one.column === column) ? 'no' : 'yes';
  };
  const canDeploy = (service: ServiceName): string => {
    if (findings.some((one) => one.service === service)) return 'no';
    return rolledOut.has(service) ? 'yes' : 'unknown';
  };
  return [
    row('service', ...columns, 'can deploy'),
    ...serviceNames.map((service) =>
      row(service, ...columns.map((column) => verdict(service, column)), canDeploy(service)),
    ),
    ...(findings.length === 0 ? [] : ['']),
    // Both orders of a roll-out may find the same.
    ...new Set(findings.map(({ service, column, text }) => `${service}, ${column}: ${text}`)),
  ];
}
