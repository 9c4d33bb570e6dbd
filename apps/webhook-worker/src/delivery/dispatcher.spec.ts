import { createLogger } from '@fulfilment/runtime';
import { type DueSubscription, LaneQueue } from '../dispatch-queue/lane-queue.js';
import type { Lane } from '../dispatch-queue/lanes.rules.js';
import { singleDay } from '../dispatch-queue/day-span.rules.js';
import { anAttempt } from './attempt.fixture.js';
import { DeliveryWindows } from './concurrency/delivery-windows.js';
import { windowSizes } from './concurrency/window.rules.js';
import { Dispatcher } from './dispatcher.js';
import type { Claim, ClaimRequest } from './claiming/claim-deliveries.js';
import type { LeasedDelivery } from './leased-delivery.js';

const subscriptionId = '01900000-0000-7000-8000-000000000004';
const due = { subscriptionId, lane: 'fast' } as const;
const { delivery } = anAttempt(subscriptionId);

/** A dispatcher whose claims and attempts end when the test ends them. */
function aDispatcher() {
  const lanes = { fast: new LaneQueue(), slow: new LaneQueue() };
  const claims: { readonly request: ClaimRequest; readonly end: (deliveries: LeasedDelivery[]) => void }[] =
    [];
  const attempts: (() => void)[] = [];
  const queue = {
    start: () => undefined,
    stop: () => {
      for (const lane of Object.values(lanes)) lane.stop();
      return Promise.resolve();
    },
    next: (lane: Lane) => lanes[lane].take(),
    requeue: (subscriptions: readonly DueSubscription[]) => {
      for (const one of subscriptions) void lanes[one.lane].add(one, 'continued');
    },
  };
  const hostSlots = {
    take: (_due: DueSubscription, count: number) => Promise.resolve({ count, free: () => undefined }),
    rememberHost: () => undefined,
  };
  const claimDeliveries = {
    run: (request: ClaimRequest) =>
      new Promise<Claim>((resolve) => {
        const end = (deliveries: LeasedDelivery[]): void =>
          resolve({ deliveries, moreDue: false, lane: undefined, days: undefined });
        claims.push({ request, end });
      }),
  };
  const makeAttempt = { run: () => new Promise<void>((resolve) => attempts.push(resolve)) };
  const dispatcher = new Dispatcher(
    queue,
    hostSlots,
    new DeliveryWindows(),
    claimDeliveries,
    makeAttempt,
    createLogger('test', 'silent'),
  );
  dispatcher.start();
  const addDue = (day?: string): void =>
    void lanes.fast.add({ ...due, days: day === undefined ? undefined : singleDay(day) }, 'new');
  return { dispatcher, claims, attempts, addDue };
}

/** Resolves when everything that does not wait for the test has run. */
const untilIdle = () => new Promise(setImmediate);

/** A dispatcher with a running attempt, and a second claim of the same subscription. */
async function claimingDuringAttempt() {
  const testbed = aDispatcher();
  testbed.addDue();
  await untilIdle();
  testbed.claims[0]?.end([delivery]);
  await untilIdle();
  testbed.addDue();
  await untilIdle();
  expect(testbed.claims[1]?.request.running).toBe(1);
  return testbed;
}

describe('a claim that finds nothing because the attempts have reached the limit of the receiver', () => {
  it('is repeated at once if the attempts ended during the claim', async () => {
    const { dispatcher, claims, attempts } = await claimingDuringAttempt();
    attempts[0]?.();
    await untilIdle();
    claims[1]?.end([]);
    await untilIdle();
    expect(claims[2]?.request.running).toBe(0);
    claims[2]?.end([]);
    await dispatcher.stop();
    expect(claims).toHaveLength(3);
  });

  it('is repeated when the attempts end after it', async () => {
    const { dispatcher, claims, attempts } = await claimingDuringAttempt();
    claims[1]?.end([]);
    await untilIdle();
    expect(claims).toHaveLength(2);
    attempts[0]?.();
    await untilIdle();
    expect(claims[2]?.request.running).toBe(0);
    claims[2]?.end([]);
    await dispatcher.stop();
  });
});

describe('a delivery that becomes due during a claim', () => {
  it('is claimed at once if the claim finds nothing, although another attempt is running', async () => {
    const { dispatcher, claims, attempts, addDue } = await claimingDuringAttempt();
    addDue();
    await untilIdle();
    expect(claims).toHaveLength(2);
    claims[1]?.end([]);
    await untilIdle();
    expect(claims[2]?.request.running).toBe(1);
    claims[2]?.end([]);
    attempts[0]?.();
    await untilIdle();
    claims[3]?.end([]);
    await dispatcher.stop();
  });

  it('is claimed when the attempts of the claim have ended, and the next claim covers its day, too', async () => {
    const { dispatcher, claims, attempts, addDue } = aDispatcher();
    addDue('2026-11-21');
    await untilIdle();
    addDue('2026-11-22');
    await untilIdle();
    claims[0]?.end([delivery]);
    await untilIdle();
    expect(claims).toHaveLength(1);
    attempts[0]?.();
    await untilIdle();
    expect(claims[1]?.request).toMatchObject({ running: 0, days: { from: '2026-11-21', to: '2026-11-22' } });
    claims[1]?.end([]);
    await dispatcher.stop();
    expect(claims).toHaveLength(2);
  });
});

it('a subscription whose window is full continues when its attempts have ended', async () => {
  const { dispatcher, claims, attempts, addDue } = aDispatcher();
  for (let claim = 0; claim < windowSizes.initial; claim += 1) {
    addDue();
    await untilIdle();
    claims[claim]?.end([delivery]);
    await untilIdle();
  }
  addDue();
  await untilIdle();
  expect(claims).toHaveLength(windowSizes.initial);
  for (const end of attempts) end();
  await untilIdle();
  expect(claims[windowSizes.initial]?.request.running).toBe(0);
  claims[windowSizes.initial]?.end([]);
  await dispatcher.stop();
});
