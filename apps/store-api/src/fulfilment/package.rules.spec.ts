import { repeatableBlockMs } from '@fulfilment/testing';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { addEvent, buildPackages, isPartialShipment, type PackageEvent } from './package.rules.js';

/** Some ten times what a slow machine needs, so only a duration that grows by the square exceeds it. */
const maxBlockMs = 500;

const timeAt = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const tracking = (tracking_number: string) => ({
  carrier: 'Royal Mail',
  tracking_number,
  tracking_url: `https://track.example/${tracking_number}`,
});
/** @param minute time of the event; `handedOverMinute` is its `shipped_at` */
const shipped = (number: string, minute: number, handedOverMinute = minute): PackageEvent => ({
  kind: 'shipped',
  ...tracking(number),
  shipped_at: timeAt(handedOverMinute),
  occurred_at: timeAt(minute),
});
const corrected = (number: string, minute: number, replaces: string | null = null): PackageEvent => ({
  kind: 'corrected',
  ...tracking(number),
  replaces,
  occurred_at: timeAt(minute),
});
const delivered = (number: string | null, minute: number): PackageEvent => ({
  kind: 'delivered',
  tracking_number: number,
  delivered_at: timeAt(minute),
  occurred_at: timeAt(minute),
});

/** Returns the events that an order stores after the given events have arrived. */
const knownAfter = (...events: PackageEvent[]) =>
  events.reduce<readonly PackageEvent[]>((known, event) => addEvent(known, event), []);
const numbers = (...events: PackageEvent[]) =>
  buildPackages(knownAfter(...events)).packages.map((parcel) => parcel.tracking_number);
const arrivals = (...events: PackageEvent[]) =>
  buildPackages(knownAfter(...events)).packages.map((parcel) => parcel.delivered_at);
/** Returns why an event that arrives after the earlier ones is not applied. */
const problemOf = (event: PackageEvent, earlier: readonly PackageEvent[] = []) =>
  buildPackages(knownAfter(...earlier, event)).notApplied.get(event);

describe('the packages of an order', () => {
  it('are ordered by `shipped_at`', () => {
    expect(numbers(shipped('B', 2), shipped('A', 1))).toEqual(['A', 'B']);
    expect(numbers(shipped('A', 1), shipped('B', 2, 0))).toEqual(['B', 'A']);
    expect(numbers(shipped('B', 3, 0), shipped('A', 2, 0))).toEqual(['A', 'B']); // for equal times, by event
  });

  it('do not include a further package after an event with a former tracking number', () => {
    const corrections = [shipped('X', 0), corrected('Y', 1, 'X')];
    expect(numbers(...corrections, shipped('X', 2), shipped('Y', 3))).toEqual(['Y']);
    expect(numbers(...corrections, shipped('Z', 2))).toEqual(['Y', 'Z']);
  });

  it('are corrected by number; without a match, the newest one at the time of the event is corrected', () => {
    const two = [shipped('A', 0), corrected('A2', 1), shipped('B', 2)];
    expect(numbers(...two, corrected('A2', 3))).toEqual(['A2', 'B']); // a repetition corrects no other
    expect(numbers(...two, corrected('B2', 3))).toEqual(['A2', 'B2']);
    expect(numbers(...two, corrected('A3', 3, 'A'))).toEqual(['A3', 'B']);
    expect(numbers(shipped('A', 0), corrected('B2', 3), shipped('B', 2))).toEqual(['A', 'B2']);
  });

  it('are corrected by number, even if the time of the correction is before the handover', () => {
    expect(numbers(shipped('A', 5), corrected('A2', 4, 'A'))).toEqual(['A2']);
  });

  it.each([
    ['before', 4],
    ['after', 6],
  ])('have the number of the latest correction, whose time is %s the handover', (_, minute) => {
    const [latest, earlier] = [corrected('LATEST', minute, 'A'), corrected('EARLIER', 3, 'A')];
    expect(numbers(shipped('A', 5), latest, earlier)).toEqual(['LATEST']);
  });

  it('keep the number of the latest correction when an earlier one finds its package later', () => {
    expect(numbers(shipped('A', 0), corrected('B', 1, 'X'), corrected('X', 2, 'A'))).toEqual(['X']);
  });

  it('are corrected by an event with exactly the time of the shipment', () => {
    expect(numbers(shipped('A', 0), corrected('B2', 5), shipped('B', 5))).toEqual(['A', 'B2']);
  });

  it('have the number of the correction with the later content, of two with the same time', () => {
    const [one, other] = [corrected('B', 1, 'A'), corrected('C', 1, 'A')];
    expect(numbers(shipped('A', 0), one, other)).toEqual(['C']);
    expect(numbers(shipped('A', 0), other, one)).toEqual(['C']);
  });

  it('keep the tracking of the shipment if an earlier event corrects it without naming the package', () => {
    const correction = { ...corrected('A', 1), carrier: 'UPS' };
    const { packages } = buildPackages([correction, shipped('A', 2)]);
    expect(packages.map(({ carrier }) => carrier)).toEqual(['Royal Mail']);
  });

  it('have the number that a correction replaces, even if no package had it', () => {
    expect(numbers(shipped('A', 0), corrected('A', 1, 'X'), shipped('X', 2))).toEqual(['A']);
  });

  it('can return to a former tracking number', () => {
    expect(numbers(shipped('X', 0), corrected('Y', 1, 'X'), corrected('X', 2))).toEqual(['X']);
  });

  it('stay the same after an event about an unknown package, or with the number of another package', () => {
    const two = [shipped('A', 0), shipped('B', 1)];
    expect(problemOf(corrected('A', 1))).toBe('unknown_package');
    expect(problemOf(corrected('C', 2, 'D'), two)).toBe('unknown_package');
    expect(problemOf(delivered('D', 2), two)).toBe('unknown_package');
    expect(problemOf(corrected('B', 2, 'A'), two)).toBe('number_taken');
    expect(numbers(...two, corrected('B', 2, 'A'))).toEqual(['A', 'B']);
  });

  it('arrive with the earliest delivery event', () => {
    const deliveries = [delivered('A', 3), delivered('A', 2)];
    expect(arrivals(shipped('A', 0), shipped('B', 5), ...deliveries)).toEqual([timeAt(2), null]);
  });

  it('arrive with a delivery event without a number if they were handed over by then; if none was, the first arrives', () => {
    const two = [shipped('A', 0), shipped('B', 5)];
    expect(arrivals(...two, delivered(null, 3))).toEqual([timeAt(3), null]);
    expect(arrivals(...two, delivered(null, 3), delivered(null, 6))).toEqual([timeAt(3), timeAt(6)]);
    expect(arrivals(shipped('A', 0), shipped('B', 1, 5), delivered(null, 3))).toEqual([timeAt(3), timeAt(3)]);
    expect(arrivals(shipped('A', 1), shipped('B', 5), delivered(null, 0))).toEqual([timeAt(0), null]);
  });

  it('stay the same after repeated events', () => {
    const known = knownAfter(shipped('A', 0), corrected('A2', 1, 'A'), delivered('A', 2), delivered(null, 3));
    for (const event of known) expect(addEvent(known, { ...event })).toBe(known);
    const inOtherSequence = {
      occurred_at: timeAt(1),
      replaces: 'A',
      ...tracking('A2'),
      kind: 'corrected',
    } as const;
    expect(addEvent(known, inOtherSequence)).toBe(known);
    expect(addEvent(known, delivered('A', 9))).toBe(known);
    expect(addEvent(known, shipped('A', 9))).toBe(known);
  });

  it.each([
    ['after its shipment', 1],
    ['before all shipments, by a clock that is behind', -1000],
  ])('are built from a thousand events, each correction %s, without a long block', async (_, offset) => {
    const steps = Array.from({ length: 333 }, (_, step) => step);
    const events = steps.flatMap((step) => [
      shipped(`A${step}`, 3 * step),
      corrected(`B${step}`, 3 * step + offset, `A${step}`),
      delivered(null, 3 * step + 2),
    ]);
    const blockMs = await repeatableBlockMs(() => Promise.resolve(buildPackages(events)), maxBlockMs);
    expect(blockMs).toBeLessThanOrEqual(maxBlockMs);
  });

  it('are the same in any order of arrival with repetitions, when out-of-order events wait and rejected ones are left out', () => {
    const minute = fc.integer({ min: 0, max: 9 });
    const event = fc.oneof(
      fc.record({ number: letter('ABC'), minute, handedOver: minute }).map(toShipped),
      fc.record({ number: letter('ABCX'), minute, replaces: fc.option(letter('ABCXYZ')) }).map(toCorrected),
      fc.record({ number: fc.option(letter('ABCXYZ')), minute }).map(toDelivered),
    );
    const eventsAndArrivals = fc.array(event, { maxLength: 10 }).chain((events) => {
      const twice = [...events, ...events];
      return fc.tuple(fc.constant(events), fc.shuffledSubarray(twice, { minLength: twice.length }));
    });
    fc.assert(
      fc.property(eventsAndArrivals, ([events, arriving]) => {
        const { known, rejected } = applyInOrderOfArrival(arriving);
        // Includes events that still wait, which have no effect.
        const notRejected = events.filter((event) => isIn(known, event) || !isIn(rejected, event));
        expect(buildPackages(known).packages).toEqual(buildPackages(knownAfter(...notRejected)).packages);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a shipment', () => {
  const ordered = [
    { sku: 'a', quantity: 2 },
    { sku: 'b', quantity: 1 },
  ];
  const packagesWith = (...contents: ({ sku: string; quantity: number }[] | undefined)[]) =>
    contents.map((items, index) => ({
      ...tracking(String(index)),
      shipped_at: timeAt(index),
      delivered_at: null,
      ...(items !== undefined && { items }),
    }));

  it.each([
    ['one piece of a product is missing', [[{ sku: 'a', quantity: 1 }], [{ sku: 'b', quantity: 1 }]], true],
    ['a product is missing', [[{ sku: 'a', quantity: 2 }]], true],
    ['its packages contain all pieces', [[{ sku: 'a', quantity: 1 }], ordered], false],
    ['the items of a package are not known', [[{ sku: 'a', quantity: 1 }], undefined], false],
  ])('of which %s is partial: %p', (_, contents, expected) => {
    expect(isPartialShipment(packagesWith(...contents), ordered)).toBe(expected);
  });

  it('keeps the items that the warehouse reported', () => {
    const items = [{ sku: 'a', quantity: 1 }];
    const { packages } = buildPackages([
      { kind: 'shipped', ...tracking('A'), shipped_at: timeAt(1), occurred_at: timeAt(1), items },
      shipped('B', 2),
    ]);
    expect(packages.map((parcel) => parcel.items)).toEqual([items, undefined]);
  });
});

const letter = (letters: string) => fc.constantFrom(...letters);

const toShipped = (event: { number: string; minute: number; handedOver: number }) =>
  shipped(event.number, event.minute, event.handedOver);
const toCorrected = (event: { number: string; minute: number; replaces: string | null }) =>
  corrected(event.number, event.minute, event.replaces);
const toDelivered = (event: { number: string | null; minute: number }) =>
  delivered(event.number, event.minute);

/**
 * Applies events one by one, as orders do: an event without its package waits for others, one with another
 * package's number is rejected.
 */
function applyInOrderOfArrival(events: readonly PackageEvent[]) {
  const rejected: PackageEvent[] = [];
  let known: readonly PackageEvent[] = [];
  let waiting: PackageEvent[] = [];
  /** Returns false if the event is neither applied nor rejected, since its package is unknown. */
  const applyOrReject = (event: PackageEvent): boolean => {
    const next = addEvent(known, event);
    const reason = buildPackages(next).notApplied.get(event);
    if (reason === undefined) known = next;
    if (reason === 'number_taken') rejected.push(event);
    return reason !== 'unknown_package';
  };
  for (const event of events) {
    waiting.push(event);
    let countBefore: number;
    do {
      countBefore = waiting.length;
      waiting = waiting.filter((deferred) => !applyOrReject(deferred));
    } while (waiting.length < countBefore);
  }
  return { known, rejected };
}

function isIn(events: readonly PackageEvent[], event: PackageEvent): boolean {
  return events.some((other) => isDeepStrictEqual(other, event));
}
