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
  readonly tracking: Tracking;
  /** Its current and former tracking numbers. */
  readonly numbers: ReadonlySet<string>;
  readonly shipped: Shipped;
  /** Time of the event that its tracking comes from. Earlier events do not correct it. */
  readonly trackedAt: string;
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
  let packages: readonly Package[] = [];
  const eventsByTime = events.toSorted(compareEvents);
  for (const event of eventsByTime) {
    if (event.kind === 'shipped') packages = addPackage(packages, event);
    // A correction is pending until its package exists, which may be after a later event.
    if (event.kind === 'corrected') notApplied.set(event, 'unknown_package');
    packages = applyCorrections(packages, notApplied);
  }
  const deliveries = eventsByTime.filter((event) => event.kind === 'delivered');
  for (const delivery of deliveries)
    if (!packages.some((parcel) => isDeliveredBy(parcel, delivery, packages)))
      notApplied.set(delivery, 'unknown_package');
  const rows = packages.map((parcel) => ({
    ...parcel.tracking,
    shipped_at: parcel.shipped.shipped_at,
    delivered_at:
      deliveries.find((delivery) => isDeliveredBy(parcel, delivery, packages))?.delivered_at ?? null,
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
function addPackage(packages: readonly Package[], shipped: Shipped): readonly Package[] {
  const { carrier, tracking_number, tracking_url, shipped_at, occurred_at } = shipped;
  if (packages.some(({ numbers }) => numbers.has(tracking_number))) return packages;
  const tracking = { carrier, tracking_number, tracking_url };
  const added = { tracking, numbers: new Set([tracking_number]), shipped, trackedAt: occurred_at };
  const later = packages.findIndex((known) => toMs(known.shipped.shipped_at) > toMs(shipped_at));
  return packages.toSpliced(later < 0 ? packages.length : later, 0, added);
}

/**
 * Applies each pending correction whose package exists and removes it from `notApplied`, or marks it
 * `number_taken` if another package has the new number. Repeats until no correction can be applied, since one
 * may enable another.
 */
function applyCorrections(
  packages: readonly Package[],
  notApplied: Map<PackageEvent, NotAppliedReason>,
): readonly Package[] {
  for (const event of notApplied.keys()) {
    if (event.kind !== 'corrected') continue;
    const corrected = applyCorrection(packages, event);
    if (corrected === 'unknown_package') continue;
    if (corrected === 'number_taken') {
      notApplied.set(event, corrected);
      continue;
    }
    notApplied.delete(event);
    return applyCorrections(corrected, notApplied);
  }
  return packages;
}

/**
 * Corrects the package with the number `replaces`, else the package with the new number. If the event names
 * no former number and no package has the new number, corrects the last package.
 */
function applyCorrection(
  packages: readonly Package[],
  event: Corrected,
): readonly Package[] | NotAppliedReason {
  const { carrier, tracking_number, tracking_url, replaces, occurred_at } = event;
  const named = packages.find(({ numbers }) => replaces !== null && numbers.has(replaces));
  const holder = packages.find(({ numbers }) => numbers.has(tracking_number));
  const target = named ?? holder ?? (replaces === null ? packages.at(-1) : undefined);
  if (target === undefined) return 'unknown_package';
  if (holder !== undefined && holder !== target) return 'number_taken';
  // Contains `replaces` even if no package had it: a later shipment with that number is this package.
  const numbers = new Set([...target.numbers, tracking_number, ...(replaces === null ? [] : [replaces])]);
  // Also true after a correction with exactly the time of the shipment.
  const isUncorrected = target.trackedAt === target.shipped.occurred_at;
  // With `replaces`, the sender knew the package. So the correction is later than the shipment, whatever
  // their times are, since clocks of senders differ; only another correction may be later.
  const isAfterShipment = replaces !== null && isUncorrected;
  const isStale = !isAfterShipment && toMs(occurred_at) < toMs(target.trackedAt);
  const corrected = isStale
    ? { ...target, numbers }
    : { ...target, numbers, tracking: { carrier, tracking_number, tracking_url }, trackedAt: occurred_at };
  return packages.map((parcel) => (parcel === target ? corrected : parcel));
}

/**
 * A delivery without a number applies to the packages that were handed over before the later one of its
 * times. If none was, it applies to the first package: a package arrives after it was handed over, even if
 * the clocks of senders differ.
 */
function isDeliveredBy(parcel: Package, delivery: Delivered, packages: readonly Package[]): boolean {
  const { tracking_number, delivered_at, occurred_at } = delivery;
  if (tracking_number !== null) return parcel.numbers.has(tracking_number);
  const first = Math.min(...packages.map(earliestHandoverTime));
  return earliestHandoverTime(parcel) <= Math.max(toMs(delivered_at), toMs(occurred_at), first);
}

function earliestHandoverTime({ shipped }: Package): number {
  return Math.min(toMs(shipped.shipped_at), toMs(shipped.occurred_at));
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
