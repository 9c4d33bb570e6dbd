import { type Message, messages, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, type ReceivedDelivery, webhookReceiver } from '@fulfilment/testing';
import { anOrder } from '../test/snapshots.fixture.js';
import {
  aClient,
  isSignedWith,
  type RunningWorker,
  type WebhookStores,
} from '../test/webhook-worker.fixture.js';

const creatorCount = 10;
/** Events of each creator's two subscriptions, and their secrets: shortest, longest and non-ASCII ones. */
const subscriptionKinds = [
  { events: ['order.created'], secrets: ['s', 'x'.repeat(256), '\u{1F3B6} schlüssel'] },
  { events: ['order.created', 'order.processing'], secrets: ['whsec_1', '語'.repeat(256)] },
];
/** The receiver responds to the first attempt of every ninth event with 503. */
const rejectionInterval = 9;
/**
 * Possible outcomes in the history of an attempt that the receiver accepted: the response may have come too
 * late, or after the end of the process.
 */
const acceptedOutcomes = new Set(['succeeded', 'lost', 'timeout']);
const settleTimeoutMs = 120_000;

const checkedDeliveries = statement(
  'test.checked-deliveries',
  `SELECT d.id, d.event_id, d.subscription_id, d.status, d.attempt_count, array_agg(a.number ORDER BY a.number) AS numbers,
     array_agg(a.outcome ORDER BY a.number) AS outcomes
   FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   LEFT JOIN webhook_attempts a ON a.day = d.day AND a.delivery_id = d.id
   WHERE s.creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4, 5`,
);
const countByStatus = statement(
  'test.count-checked-by-status',
  `SELECT d.status, count(*) AS count FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   WHERE s.creator_id = ANY($1::uuid[]) GROUP BY 1`,
);

export interface CheckedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly subscription_id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly numbers: number[];
  readonly outcomes: string[];
}

interface StatusCount {
  readonly status: string;
  readonly count: number;
}

interface Subscription {
  readonly path: string;
  readonly id: string;
  readonly creatorId: string;
  readonly events: readonly string[];
  readonly secret: string;
}

/** A published change. */
interface Change {
  readonly message: Message;
  readonly creatorId: string;
  readonly orderId: string;
}

/**
 * Creates twenty subscriptions of ten creators, and a receiver that records all requests. `expectNothingLost`
 * compares the published messages, the rows in PostgreSQL and the received requests as sets.
 */
export async function deliveryCheck(stores: WebhookStores, worker: RunningWorker) {
  stores.resetCreators();
  const receiver = await webhookReceiver();
  const subscriptions = await subscribeAll(stores, worker, receiver.url);
  const creators = [...stores.creators];
  const changes: Change[] = [];
  const rejected = new Set<string>();
  /** Every accepted attempt, as `attemptOf` returns it. */
  const accepted = new Set<string>();
  let beforeResponse: (request: ReceivedDelivery) => Promise<unknown> | undefined = () => undefined;

  receiver.respondWith((response, request) => {
    const attempt = attemptOf(request);
    const status = attempt.endsWith(' 1') && rejected.has(request.body.id) ? 503 : 204;
    const respond = (): void => {
      if (status === 204) accepted.add(attempt);
      response.writeHead(status).end();
    };
    const waiting = beforeResponse(request);
    if (waiting === undefined) respond();
    else void waiting.then(respond, respond);
  });

  /** Each published change with each of its subscriptions. */
  const expectedDeliveries = () =>
    changes.flatMap((change) =>
      subscriptions
        .filter((one) => one.creatorId === change.creatorId && one.events.includes(change.message.type))
        .map((subscription) => ({ change, subscription })),
    );
  const rows = () => stores.database.rows<CheckedDelivery>(checkedDeliveries, [creators]);

  /** Creates further changes, spread over the creators. */
  const createChanges = (count: number): Message[] => {
    const created = Array.from({ length: count }, (_, index) => {
      const number = changes.length + index;
      const creatorId = creators[number % creators.length] ?? '';
      const isOdd = Math.floor(number / creators.length) % 2 === 1;
      const order = anOrder(creatorId, { status: isOdd ? 'processing' : 'pending' });
      const messageType = isOdd ? messages.orderProcessing : messages.orderCreated;
      const message = messageType.make({ order }, { occurredAt: new Date() });
      if (number % rejectionInterval === 0) rejected.add(publicId('evt', message.id));
      return { message, creatorId, orderId: publicId('ord', order.id) };
    });
    changes.push(...created);
    return created.map(({ message }) => message);
  };

  /** Resolves when the count by `countOf` reaches the number of expected deliveries. */
  const untilAllCounted = (countOf: (found: readonly StatusCount[]) => number) => {
    const expectedCount = expectedDeliveries().length;
    let last = '';
    return eventually(
      async () => {
        const found = await stores.database.rows<StatusCount>(countByStatus, [creators]);
        last = JSON.stringify(found);
        return countOf(found) >= expectedCount;
      },
      { timeoutMs: settleTimeoutMs, describe: () => `${last} of ${expectedCount}` },
    );
  };

  return {
    createChanges,
    /** Creates changes, and publishes each once. */
    publish: (count: number) => stores.broker.publish(...createChanges(count)),
    requests: receiver.deliveries,
    /** Returns the number of accepted attempts whose response was lost, so that the delivery was repeated. */
    lostResponses: () => accepted.size - expectedDeliveries().length,
    rows,
    /** Resolves when `count` further requests have arrived. */
    untilMoreArrive: (count: number) => {
      const expectedCount = receiver.deliveries.length + count;
      return eventually(() => receiver.deliveries.length >= expectedCount, {
        timeoutMs: settleTimeoutMs,
        describe: () => `${receiver.deliveries.length} of ${expectedCount} requests arrived`,
      });
    },
    /** Delays responses until the promise that `wait` returns settles; undefined stands for no delay. */
    respondAfter: (wait: (request: ReceivedDelivery) => Promise<unknown> | undefined) => {
      beforeResponse = wait;
    },
    /** Resolves when PostgreSQL has all expected deliveries. */
    untilWritten: () => untilAllCounted((found) => found.reduce((sum, { count }) => sum + count, 0)),
    /** Resolves when all deliveries in PostgreSQL have succeeded. */
    untilDelivered: () =>
      eventually(
        async () => {
          const found = await stores.database.rows<StatusCount>(countByStatus, [creators]);
          return found.every(({ status }) => status === 'succeeded');
        },
        { timeoutMs: settleTimeoutMs },
      ),
    /** Resolves when all expected deliveries have succeeded. */
    untilSettled: () =>
      untilAllCounted((found) => found.find(({ status }) => status === 'succeeded')?.count ?? 0),
    /**
     * Expects one stored delivery of each published change for each of its subscriptions, and that the
     * receiver got it under its id.
     */
    expectNothingLost: async () => {
      const found = await rows();
      const expectedPairs = expectedDeliveries();
      // Each pair of event and subscription has exactly one delivery.
      const foundPairs = found.map((row) => `${row.event_id} ${publicId('whk', row.subscription_id)}`);
      expect(foundPairs.sort()).toEqual(
        expectedPairs
          .map(({ change: { message }, subscription }) => `${message.id} ${subscription.id}`)
          .sort(),
      );
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
      expect(found.filter((row) => !isConsistent(row, accepted))).toEqual([]);
      expectStableIds(receiver.deliveries, expectedPairs, found);
      expectSignedBytes(receiver.deliveries, subscriptions);
      expect(await stores.broker.takeDeadLetters('webhook-worker.events')).toEqual([]);
    },
    stop: () => receiver.stop(),
  };
}
export type DeliveryCheck = Awaited<ReturnType<typeof deliveryCheck>>;

async function subscribeAll(
  stores: WebhookStores,
  worker: RunningWorker,
  receiverUrl: string,
): Promise<Subscription[]> {
  const subscriptions: Subscription[] = [];
  for (let creator = 0; creator < creatorCount; creator += 1) {
    const client = await aClient(stores, worker);
    for (const { events, secrets } of subscriptionKinds) {
      const path = `/hook/${subscriptions.length}`;
      const secret = secrets[creator % secrets.length] ?? '';
      const id = await client.subscribe(new URL(path, receiverUrl).href, events, secret);
      subscriptions.push({ path, id, creatorId: client.creatorId, events, secret });
    }
  }
  return subscriptions;
}

/** Returns the id of the delivery and the number of the attempt, separated by a space. */
export function attemptOf({ headers }: ReceivedDelivery): string {
  return `${String(headers['x-service-delivery'])} ${String(headers['x-service-attempt'])}`;
}

/**
 * Whether the last attempt, and only that, succeeded and was accepted by the receiver. Attempt numbers have
 * no gap and no repetition. Earlier accepted attempts are lost or timed out in the history.
 */
function isConsistent(row: CheckedDelivery, accepted: ReadonlySet<string>): boolean {
  const { status, attempt_count: count, numbers, outcomes } = row;
  return (
    status === 'succeeded' &&
    numbers.length === count &&
    numbers.every((number, index) => number === index + 1) &&
    outcomes.indexOf('succeeded') === count - 1 &&
    outcomes.every((outcome, index) => {
      const wasAccepted = accepted.has(`${publicId('whd', row.id)} ${index + 1}`);
      return wasAccepted ? acceptedOutcomes.has(outcome) : outcome !== 'succeeded';
    })
  );
}

/** Expects that all attempts of a change at a subscription had the same event id and delivery id. */
function expectStableIds(
  requests: readonly ReceivedDelivery[],
  expectedPairs: readonly { readonly change: Change; readonly subscription: Subscription }[],
  found: readonly CheckedDelivery[],
): void {
  const arrived = new Set(
    requests.map(({ path, body, headers }) =>
      [path, body.event, body.data['order_id'], body.id, headers['x-service-delivery']].join(' '),
    ),
  );
  const deliveries = new Map(
    found.map((row) => [`${row.event_id} ${publicId('whk', row.subscription_id)}`, publicId('whd', row.id)]),
  );
  const expectedArrivals = expectedPairs.map(({ change: { message, orderId }, subscription: { path, id } }) =>
    [path, message.type, orderId, publicId('evt', message.id), deliveries.get(`${message.id} ${id}`)].join(
      ' ',
    ),
  );
  expect([...arrived].sort()).toEqual(expectedArrivals.sort());
}

/** Expects that all attempts of a delivery had the same bytes, signed with the secret of the subscription. */
function expectSignedBytes(
  requests: readonly ReceivedDelivery[],
  subscriptions: readonly Subscription[],
): void {
  const secrets = new Map(subscriptions.map(({ path, secret }) => [path, secret]));
  const attempts = Map.groupBy(requests, ({ headers }) => String(headers['x-service-delivery']));
  for (const [first, ...retries] of attempts.values())
    expect(retries.filter(({ rawBody }) => first?.rawBody.equals(rawBody) !== true)).toEqual([]);
  const unsigned = requests.filter(
    ({ path, headers, rawBody }) =>
      !isSignedWith(secrets.get(path) ?? 'none', headers['x-service-signature'], rawBody),
  );
  expect(unsigned).toEqual([]);
}
