import type { PackageRow } from './order-row.js';

/** A package with what later reports are judged by. */
export interface KnownPackage {
  readonly parcel: PackageRow;
  /** Tracking numbers it had before it was corrected. */
  readonly formerNumbers: readonly string[];
  /** When the report happened that its tracking comes from: what happened earlier corrects it no more. */
  readonly toldAt: string;
}

type Tracking = Pick<PackageRow, 'carrier' | 'tracking_number' | 'tracking_url'>;

/** Whether a package has this tracking number, or had it. */
export function goesBy({ parcel, formerNumbers }: KnownPackage, trackingNumber: string): boolean {
  return parcel.tracking_number === trackingNumber || formerNumbers.includes(trackingNumber);
}

/** The packages after one more was handed over, or undefined when it is known already, if only by a former number. */
export function withPackage(
  packages: readonly KnownPackage[],
  parcel: PackageRow,
  toldAt: string,
): KnownPackage[] | undefined {
  if (packages.some((known) => goesBy(known, parcel.tracking_number))) return undefined;
  return [...packages, { parcel, formerNumbers: [], toldAt }];
}

export type Correction =
  /** Names a package that was not reported yet. */
  | 'unknown_package'
  /** The new number is another package's. */
  | 'number_taken'
  | 'unchanged'
  /** `visible`: what the order shows has changed, not only what we remember of it. */
  | { readonly packages: KnownPackage[]; readonly visible: boolean };

/**
 * Corrects the package that goes by `replaces`, else the one that goes by the new number, else the newest. The report that happened last
 * holds, whatever the order in which they come.
 */
export function withCorrection(
  packages: readonly KnownPackage[],
  tracking: Tracking,
  replaces: string | undefined,
  toldAt: string,
): Correction {
  const named = replaces === undefined ? undefined : packages.find((known) => goesBy(known, replaces));
  const holder = packages.find((known) => goesBy(known, tracking.tracking_number));
  const target = named ?? holder ?? (replaces === undefined ? packages.at(-1) : undefined);
  if (target === undefined) return 'unknown_package';
  if (holder !== undefined && holder !== target) return 'number_taken';
  const late = Date.parse(toldAt) < Date.parse(target.toldAt);
  const parcel = late ? target.parcel : { ...target.parcel, ...tracking };
  const numbers = new Set([
    ...target.formerNumbers,
    target.parcel.tracking_number,
    tracking.tracking_number,
    replaces ?? tracking.tracking_number,
  ]);
  numbers.delete(parcel.tracking_number);
  const formerNumbers = [...numbers];
  const visible = !sameTracking(parcel, target.parcel);
  const lastToldAt = late ? target.toldAt : toldAt;
  const remembered = formerNumbers.length !== target.formerNumbers.length || lastToldAt !== target.toldAt;
  if (!visible && !remembered) return 'unchanged';
  const corrected = { parcel, formerNumbers, toldAt: lastToldAt };
  return { packages: packages.map((known) => (known === target ? corrected : known)), visible };
}

function sameTracking(one: Tracking, other: Tracking): boolean {
  return (
    one.carrier === other.carrier &&
    one.tracking_number === other.tracking_number &&
    one.tracking_url === other.tracking_url
  );
}
