import type { PackageRow } from './order-row.js';

type Tracking = Pick<PackageRow, 'carrier' | 'tracking_number' | 'tracking_url'>;

interface Shipped extends Tracking {
  readonly kind: 'shipped';
  readonly shipped_at: string;
  /** When the report happened. */
  readonly told_at: string;
}

interface Corrected extends Tracking {
  readonly kind: 'corrected';
  readonly replaces: string | null;
  readonly told_at: string;
}

interface Delivered {
  readonly kind: 'delivered';
  /** Null: all that was handed over by then. */
  readonly tracking_number: string | null;
  readonly delivered_at: string;
  readonly told_at: string;
}

/** What was reported of the packages of an order. */
export type PackageReport = Shipped | Corrected | Delivered;

export type Misplaced =
  /** Means a package that was not reported yet. */
  | 'unknown_package'
  /** The new number is another package's. */
  | 'number_taken';

/** A package while the reports are gone through. */
interface Package {
  readonly tracking: Tracking;
  /** Every number it has or had. */
  readonly numbers: ReadonlySet<string>;
  readonly shipped: Shipped;
  /** When the report happened that its tracking comes from: what happened earlier corrects it no more. */
  readonly trackedAt: string;
}

/**
 * The reports with one more, in the order they happened; the same list when it says nothing new. Of what is said again about one number, the
 * report that happened first holds.
 */
export function withReport(
  reports: readonly PackageReport[],
  report: PackageReport,
): readonly PackageReport[] {
  const twin = reports.find((known) => saysTheSame(known, report));
  if (twin !== undefined && inOrder(twin, report) <= 0) return reports;
  return [...reports.filter((known) => known !== twin), report].sort(inOrder);
}

/**
 * The packages that reports make, the one handed over last at the end: the outcome of taking the reports in the order they happened, whatever
 * the order in which they came. And the reports that found no package.
 */
export function packagesOf(reports: readonly PackageReport[]): {
  packages: PackageRow[];
  misplaced: ReadonlyMap<PackageReport, Misplaced>;
} {
  const misplaced = new Map<PackageReport, Misplaced>();
  let packages: readonly Package[] = [];
  for (const report of [...reports].sort(inOrder)) {
    if (report.kind === 'shipped') packages = withPackage(packages, report);
    if (report.kind === 'corrected') misplaced.set(report, 'unknown_package');
    packages = withCorrections(packages, misplaced);
  }
  const deliveries = reports.filter((report) => report.kind === 'delivered').sort(inOrder);
  for (const delivery of deliveries)
    if (!packages.some((one) => arrivesBy(one, delivery, packages)))
      misplaced.set(delivery, 'unknown_package');
  const rows = packages.map((one) => ({
    ...one.tracking,
    shipped_at: one.shipped.shipped_at,
    delivered_at: deliveries.find((delivery) => arrivesBy(one, delivery, packages))?.delivered_at ?? null,
  }));
  return { packages: rows, misplaced };
}

/** One more package, unless one goes by its number, if only from before a correction. */
function withPackage(packages: readonly Package[], shipped: Shipped): readonly Package[] {
  const { carrier, tracking_number, tracking_url, shipped_at, told_at } = shipped;
  if (packages.some(({ numbers }) => numbers.has(tracking_number))) return packages;
  const tracking = { carrier, tracking_number, tracking_url };
  const added = { tracking, numbers: new Set([tracking_number]), shipped, trackedAt: told_at };
  const later = packages.findIndex((known) => time(known.shipped.shipped_at) > time(shipped_at));
  return packages.toSpliced(later < 0 ? packages.length : later, 0, added);
}

/** Applies the corrections that have their package now, again and again while one makes sense of another. */
function withCorrections(
  packages: readonly Package[],
  misplaced: Map<PackageReport, Misplaced>,
): readonly Package[] {
  for (const [report, why] of misplaced) {
    if (report.kind !== 'corrected' || why === 'number_taken') continue;
    const corrected = withCorrection(packages, report);
    if (corrected === 'unknown_package') continue;
    if (corrected === 'number_taken') {
      misplaced.set(report, corrected);
      continue;
    }
    misplaced.delete(report);
    return withCorrections(corrected, misplaced);
  }
  return packages;
}

/** Corrects the package that goes by `replaces`, else the one that goes by the new number, else the one handed over last. */
function withCorrection(packages: readonly Package[], report: Corrected): readonly Package[] | Misplaced {
  const { carrier, tracking_number, tracking_url, replaces, told_at } = report;
  const named = packages.find(({ numbers }) => replaces !== null && numbers.has(replaces));
  const holder = packages.find(({ numbers }) => numbers.has(tracking_number));
  const target = named ?? holder ?? (replaces === null ? packages.at(-1) : undefined);
  if (target === undefined) return 'unknown_package';
  if (holder !== undefined && holder !== target) return 'number_taken';
  const numbers = new Set([...target.numbers, tracking_number, replaces ?? tracking_number]);
  // What names a package knows of it, whatever the clock says of who reported it: only another correction can be the later one.
  const known = replaces !== null && target.trackedAt === target.shipped.told_at;
  const late = !known && time(told_at) < time(target.trackedAt);
  const corrected = late
    ? { ...target, numbers }
    : { ...target, numbers, tracking: { carrier, tracking_number, tracking_url }, trackedAt: told_at };
  return packages.map((one) => (one === target ? corrected : one));
}

/**
 * A delivery that names no package means those that were handed over by then, by one account or the other; where by all accounts none was, the
 * first: nothing arrives that was not sent, whatever the clocks of who report it.
 */
function arrivesBy(one: Package, delivery: Delivered, packages: readonly Package[]): boolean {
  const { tracking_number, delivered_at, told_at } = delivery;
  if (tracking_number !== null) return one.numbers.has(tracking_number);
  const first = Math.min(...packages.map(handedOver));
  return handedOver(one) <= Math.max(time(delivered_at), time(told_at), first);
}

function handedOver({ shipped }: Package): number {
  return Math.min(time(shipped.shipped_at), time(shipped.told_at));
}

/** Whether two reports may stand for each other: the one that happened first decides for both. */
function saysTheSame(one: PackageReport, other: PackageReport): boolean {
  const sameNumber = one.kind === other.kind && one.tracking_number === other.tracking_number;
  if (one.kind === 'corrected' || one.tracking_number === null) return inOrder(one, other) === 0;
  return sameNumber;
}

const kinds = ['shipped', 'corrected', 'delivered'];

/** As they happened. What happened at one instant has an order too, the same whichever came first. */
function inOrder(one: PackageReport, other: PackageReport): number {
  return (
    time(one.told_at) - time(other.told_at) ||
    kinds.indexOf(one.kind) - kinds.indexOf(other.kind) ||
    compare(canonical(one), canonical(other))
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function canonical(report: PackageReport): string {
  return JSON.stringify(Object.entries(report).sort(([one], [other]) => compare(one, other)));
}

function time(at: string): number {
  return Date.parse(at);
}
