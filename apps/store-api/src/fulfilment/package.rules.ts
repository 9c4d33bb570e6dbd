import type { PackageRow, PackedItem } from '../orders/order-row.js';

type Tracking = Pick<PackageRow, 'carrier' | 'tracking_number' | 'tracking_url'>;

interface Shipped extends Tracking {
  readonly kind: 'shipped';
  readonly shipped_at: string;
  /** Time of the event. */
  readonly occurred_at: string;
  /** Contents of the package by sku; absent if they were not reported. */
  readonly items?: PackedItem[];
}

interface Corrected extends Tracking {
  readonly kind: 'corrected';
  /** A current or former tracking number of the package to correct; null if the event names none. */
  readonly replaces: string | null;
  readonly occurred_at: string;
}

interface Delivered {
  readonly kind: 'delivered';
  /** Null: the event is about all packages that were handed over before it. */
  readonly tracking_number: string | null;
  readonly delivered_at: string;
  readonly occurred_at: string;
}

/** A fulfilment event about a package of an order. */
export type PackageEvent = Shipped | Corrected | Delivered;

/** Why an event is not applied. */
type NotAppliedReason =
  /** The package was not reported yet. */
  | 'unknown_package'
  /** Another package has the new number. */
  | 'number_taken';

/** The state of a package while events are applied. */
interface Package {
  readonly shipped: Shipped;
  readonly shippedAtMs: number;
  /** The earlier one of the times of the shipment. */
  readonly handedOverAtMs: number;
  tracking: Tracking;
  /** Time of the event that its tracking comes from. Earlier events do not correct it. */
  trackedAtMs: number;
}

/** The packages of an order, which may be hundreds. */
interface Packages {
  /** Ordered by `shipped_at`. */
  readonly ordered: Package[];
  /** By their current and former tracking numbers. */
  readonly byNumber: Map<string, Package>;
}

/**
 * Returns the events with a new one. Of repeated events about one number, the earliest is kept; if that is
 * not the new one, returns `events` itself.
 */
export function addEvent(events: readonly PackageEvent[], event: PackageEvent): readonly PackageEvent[] {
  const duplicate = events.find((known) => isRepetition(known, event));
  if (duplicate !== undefined && compareEvents(duplicate, event) <= 0) return events;
  return [...events.filter((known) => known !== duplicate), event];
}

/**
 * Applies events by time, so that the result does not depend on their order of arrival. Returns the packages,
 * ordered by `shipped_at`, and the events that could not be applied.
 */
export function buildPackages(events: readonly PackageEvent[]): {
  packages: PackageRow[];
  notApplied: ReadonlyMap<PackageEvent, NotAppliedReason>;
} {
  const notApplied = new Map<PackageEvent, NotAppliedReason>();
  const packages: Packages = { ordered: [], byNumber: new Map() };
  const eventsByTime = events.toSorted(compareEvents);
  for (const event of eventsByTime) {
    if (event.kind === 'delivered') continue;
    if (event.kind === 'shipped') addPackage(packages, event);
    // A correction is pending until its package exists, which may be after a later event.
    else notApplied.set(event, 'unknown_package');
    applyCorrections(packages, notApplied);
  }
  const arrivals = new Map<Package, string>();
  for (const event of eventsByTime) {
    if (event.kind !== 'delivered') continue;
    const delivered = findDelivered(packages, event);
    if (delivered.length === 0) notApplied.set(event, 'unknown_package');
    for (const parcel of delivered) if (!arrivals.has(parcel)) arrivals.set(parcel, event.delivered_at);
  }
  const rows = packages.ordered.map((parcel) => ({
    ...parcel.tracking,
    shipped_at: parcel.shipped.shipped_at,
    delivered_at: arrivals.get(parcel) ?? null,
    ...(parcel.shipped.items !== undefined && { items: parcel.shipped.items }),
  }));
  return { packages: rows, notApplied };
}

/**
 * Whether pieces of the order are still to be shipped. Not known, and therefore false, if a package was
 * reported without its items.
 */
export function isPartialShipment(packages: readonly PackageRow[], ordered: readonly PackedItem[]): boolean {
  const packed = packages.flatMap(({ items }) => items ?? []);
  return (
    packages.every(({ items }) => items !== undefined) &&
    ordered.some(({ sku }) => countPiecesOf(sku, packed) < countPiecesOf(sku, ordered))
  );
}

export function countPiecesOf(sku: string, items: readonly PackedItem[]): number {
  let pieces = 0;
  for (const item of items) if (item.sku === sku) pieces += item.quantity;
  return pieces;
}

/** Adds a package, unless a package has or had its number. */
function addPackage({ ordered, byNumber }: Packages, shipped: Shipped): void {
  const { carrier, tracking_number, tracking_url, shipped_at, occurred_at } = shipped;
  if (byNumber.has(tracking_number)) return;
  const [shippedAtMs, trackedAtMs] = [toMs(shipped_at), toMs(occurred_at)];
  const added = {
    shipped,
    shippedAtMs,
    handedOverAtMs: Math.min(shippedAtMs, trackedAtMs),
    tracking: { carrier, tracking_number, tracking_url },
    trackedAtMs,
  };
  const later = ordered.findIndex((known) => known.shippedAtMs > shippedAtMs);
  ordered.splice(later < 0 ? ordered.length : later, 0, added);
  byNumber.set(tracking_number, added);
}

/**
 * Applies each pending correction whose package exists and removes it from `notApplied`, or marks it
 * `number_taken` if another package has the new number. Restarts after each applied one, since it may enable
 * an earlier one.
 */
function applyCorrections(packages: Packages, notApplied: Map<PackageEvent, NotAppliedReason>): void {
  let isAnyApplied: boolean;
  do {
    isAnyApplied = false;
    for (const event of notApplied.keys()) {
      if (event.kind !== 'corrected') continue;
      const reason = applyCorrection(packages, event);
      if (reason !== undefined) {
        notApplied.set(event, reason);
        continue;
      }
      notApplied.delete(event);
      isAnyApplied = true;
      break;
    }
  } while (isAnyApplied);
}

/**
 * Corrects the package with the number `replaces`, else the package with the new number. If the event names
 * no former number and no package has the new number, corrects the last package. Returns why the event cannot
 * be applied, or undefined.
 */
function applyCorrection({ ordered, byNumber }: Packages, event: Corrected): NotAppliedReason | undefined {
  const { carrier, tracking_number, tracking_url, replaces, occurred_at } = event;
  const named = replaces === null ? undefined : byNumber.get(replaces);
  const holder = byNumber.get(tracking_number);
  const target = named ?? holder ?? (replaces === null ? ordered.at(-1) : undefined);
  if (target === undefined) return 'unknown_package';
  if (holder !== undefined && holder !== target) return 'number_taken';
  byNumber.set(tracking_number, target);
  // Even if no package had this number: a later shipment with it is this package.
  if (replaces !== null) byNumber.set(replaces, target);
  // Also true after a correction with exactly the time of the shipment.
  const isUncorrected = target.trackedAtMs === toMs(target.shipped.occurred_at);
  // With `replaces`, the sender knew the package. So the correction is later than the shipment, whatever
  // their times are, since clocks of senders differ; only another correction may be later.
  const isAfterShipment = replaces !== null && isUncorrected;
  const correctedAtMs = toMs(occurred_at);
  if (isAfterShipment || correctedAtMs >= target.trackedAtMs) {
    target.tracking = { carrier, tracking_number, tracking_url };
    target.trackedAtMs = correctedAtMs;
  }
  return undefined;
}

/**
 * Returns the packages that a delivery is about. Without a number, these are the packages that were handed
 * over before the later one of its times. If none was, it is the first package: a package arrives after it
 * was handed over, even if the clocks of senders differ.
 */
function findDelivered({ ordered, byNumber }: Packages, delivery: Delivered): readonly Package[] {
  const { tracking_number, delivered_at, occurred_at } = delivery;
  if (tracking_number !== null) {
    const parcel = byNumber.get(tracking_number);
    return parcel === undefined ? [] : [parcel];
  }
  const firstMs = Math.min(...ordered.map(({ handedOverAtMs }) => handedOverAtMs));
  const latestMs = Math.max(toMs(delivered_at), toMs(occurred_at), firstMs);
  return ordered.filter(({ handedOverAtMs }) => handedOverAtMs <= latestMs);
}

/**
 * Whether two events are repetitions of each other; the earlier one applies. Corrections, and deliveries of
 * all packages, are repetitions only if they are equal.
 */
function isRepetition(a: PackageEvent, b: PackageEvent): boolean {
  if (a.kind === 'corrected' || a.tracking_number === null) return compareEvents(a, b) === 0;
  return a.kind === b.kind && a.tracking_number === b.tracking_number;
}

const kindsInOrder = ['shipped', 'corrected', 'delivered'];

/**
 * Compares two events by time; those of the same time by kind, then by content. Returns 0 for equal events.
 */
function compareEvents(a: PackageEvent, b: PackageEvent): number {
  return (
    toMs(a.occurred_at) - toMs(b.occurred_at) ||
    kindsInOrder.indexOf(a.kind) - kindsInOrder.indexOf(b.kind) ||
    compareTexts(toCanonicalJson(a), toCanonicalJson(b))
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function toCanonicalJson(event: PackageEvent): string {
  return JSON.stringify(Object.entries(event).sort(([a], [b]) => compareTexts(a, b)));
}

function toMs(timestamp: string): number {
  return Date.parse(timestamp);
}
