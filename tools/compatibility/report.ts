import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { alignColumns } from '../dev/output/align-columns.ts';

const columns = ['HTTP', 'messages', 'schema', 'mixed'] as const;
export type Column = (typeof columns)[number];

/** A reason why a service cannot be deployed independently. */
export interface Finding {
  readonly service: ServiceName;
  readonly column: Column;
  readonly text: string;
}

/** Columns that only a roll-out examines. */
const rollOutColumns: readonly Column[] = ['schema', 'mixed'];

/**
 * Formats the table of the services that can be deployed independently, and below it the findings.
 * @param rolledOut the services that were rolled out
 */
export function formatReport(findings: readonly Finding[], rolledOut: ReadonlySet<ServiceName>): string[] {
  const cellOf = (service: ServiceName, column: Column): string => {
    if (rollOutColumns.includes(column) && !rolledOut.has(service)) return '-';
    return findings.some((finding) => finding.service === service && finding.column === column)
      ? 'no'
      : 'yes';
  };
  const canDeploy = (service: ServiceName): string => {
    if (findings.some((finding) => finding.service === service)) return 'no';
    return rolledOut.has(service) ? 'yes' : 'unknown';
  };
  return [
    ...alignColumns([
      ['service', ...columns, 'can deploy'],
      ...serviceNames.map((service) => [
        service,
        ...columns.map((column) => cellOf(service, column)),
        canDeploy(service),
      ]),
    ]),
    ...(findings.length === 0 ? [] : ['']),
    // The roll-outs in both orders may have the same finding.
    ...new Set(findings.map(({ service, column, text }) => `${service}, ${column}: ${text}`)),
  ];
}
