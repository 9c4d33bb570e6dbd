import type { PackageRow } from './order-row.js';
import type { PackageReport } from './package.rules.js';

/** What an earlier version kept instead of the reports: for each of the packages its former numbers, and when its tracking was told. */
interface Outcome {
  readonly former_numbers: readonly string[];
  readonly told_at: string;
}

/** `orders.package_history` */
export type PackageHistory = readonly (PackageReport | Outcome)[];

const beforeAll = new Date(0).toISOString();

/** The reports of an order's packages. Where only their outcome was kept, it stands for them, as if told before all that may come late. */
export function reportsIn(
  history: PackageHistory,
  packages: readonly PackageRow[],
): readonly PackageReport[] {
  const reports = history.filter((entry) => 'kind' in entry);
  if (reports.length > 0) return reports;
  const outcomes = history.filter((entry) => !('kind' in entry));
  return packages.flatMap((parcel, index) => reportsFor(parcel, outcomes[index]));
}

function reportsFor(
  { shipped_at, delivered_at, ...tracking }: PackageRow,
  { former_numbers = [], told_at = shipped_at }: Partial<Outcome> = {},
): PackageReport[] {
  const corrected = (replaces: string, at: string) =>
    ({ kind: 'corrected', ...tracking, replaces, told_at: at }) as const;
  return [
    { kind: 'shipped', ...tracking, shipped_at, told_at: beforeAll },
    ...former_numbers.map((number) => corrected(number, beforeAll)),
    corrected(tracking.tracking_number, told_at),
    ...(delivered_at === null
      ? []
      : [
          {
            kind: 'delivered' as const,
            tracking_number: tracking.tracking_number,
            delivered_at,
            told_at: delivered_at,
          },
        ]),
  ];
}
