import { type Message, messages, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, type ReceivedDelivery, webhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  anOrder,
  isSignedWith,
  type Served,
  type WebhookStores,
} from '../webhook-worker.fixture.js';

const creatorCount = 10;
/**
 * The events of each creator's subscriptions, and their secrets: the shortest, the longest, and some that are
 * not ASCII.
 */
const kinds = [
  { events: ['order.created'], secrets: ['s', 'x'.repeat(256), '\u{1F3B6} schlüssel'] },
  { events: ['order.created', 'order.processing'], secrets: ['whsec_1', '語'.repeat(256)] },
];
/** Of every so many events one is refused at its first attempt. */
const refusedEach = 9;
/**
 * What the history may call an attempt that the receiver answered 2xx: the answer may have come too late, or
 * after the process was gone.
 */
const heardOrNot = new Set(['succeeded', 'lost', 'timeout']);
const settledWithinMs = 60_000;

const deliveriesToldOf = statement(
  'test.deliveries-told-of',
  `SELECT d.id, d.event_id, d.subscription_id, d.status, d.attempt_count, array_agg(a.number ORDER BY a.number) AS numbers,
     array_agg(a.outcome ORDER BY a.number) AS outcomes
   FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   LEFT JOIN webhook_attempts a ON a.day = d.day AND a.delivery_id = d.id
   WHERE s.creator_id = ANY($1::uuid[]) GROUP BY 1, 2, 3, 4, 5`,
);
const countByStatus = statement(
  'test.count-proven-by-status',
  `SELECT d.status, count(*) AS count FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   WHERE s.creator_id = ANY($1::uuid[]) GROUP BY 1`,
);

export interface AuditedDelivery {
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

/** A business change that was published. */
interface Change {
  readonly message: Message;
  readonly creatorId: string;
  readonly orderId: string;
}

/**
 * Twenty subscriptions of ten creators, a receiver that keeps all it gets, and at the end the books: what was
 * published, what PostgreSQL says, and what arrived, compared as sets.
 */
export async function deliveryAudit(stores: WebhookStores, worker: Served) {
  stores.forget();
  const receiver = await webhookReceiver();
  const subscriptions = await subscribeAll(stores, worker, receiver.url);
  const creators = [...stores.creators];
  const changes: Change[] = [];
  const refused = new Set<string>();
  /** `delivery attempt` of every 2xx. */
  const taken = new Set<string>();
  let beforeAnswer: (post: ReceivedDelivery) => Promise<unknown> | undefined = () => undefined;

  receiver.answerWith((response, post) => {
    const attempt = attemptOf(post);
    const status = attempt.endsWith(' 1') && refused.has(post.body.id) ? 503 : 204;
    const answer = (): void => {
      if (status === 204) taken.add(attempt);
      response.writeHead(status).end();
    };
    const waiting = beforeAnswer(post);
    if (waiting === undefined) answer();
    else void waiting.then(answer, answer);
  });

  /** Each published change with each subscription that must get it. */
  const promised = () =>
    changes.flatMap((change) =>
      subscriptions
        .filter((one) => one.creatorId === change.creatorId && one.events.includes(change.message.type))
        .map((subscription) => ({ change, subscription })),
    );
  const rows = () => stores.database.rows<AuditedDelivery>(deliveriesToldOf, [creators]);

  /** Makes so many further business changes, spread over the creators. */
  const change = (count: number): Message[] => {
    const made = Array.from({ length: count }, (_, index) => {
      const number = changes.length + index;
      const creatorId = creators[number % creators.length] ?? '';
      const odd = Math.floor(number / creators.length) % 2 === 1;
      const order = anOrder(creatorId, { status: odd ? 'processing' : 'pending' });
      const kind = odd ? messages.orderProcessing : messages.orderCreated;
      const message = kind.make({ order }, { occurredAt: new Date() });
      if (number % refusedEach === 0) refused.add(publicId('evt', message.id));
      return { message, creatorId, orderId: publicId('ord', order.id) };
    });
    changes.push(...made);
    return made.map(({ message }) => message);
  };

  /** Resolves when as many are counted as were promised. */
  const untilCounted = (counted: (found: readonly StatusCount[]) => number) => {
    const wanted = promised().length;
    let last = '';
    return eventually(
      async () => {
        const found = await stores.database.rows<StatusCount>(countByStatus, [creators]);
        last = JSON.stringify(found);
        return counted(found) >= wanted ? true : undefined;
      },
      settledWithinMs,
      () => `${last} of ${wanted}`,
    );
  };

  return {
    change,
    /** Makes so many changes, and publishes each once. */
    publish: (count: number) => stores.broker.publish(...change(count)),
    posts: receiver.deliveries,
    /** How many attempts the receiver took whose answer was lost, so that the delivery came again. */
    unheard: () => taken.size - promised().length,
    rows,
    /** Resolves when so many more posts have come than when it was called. */
    untilMoreArrive: (count: number) => {
      const wanted = receiver.deliveries.length + count;
      return eventually(
        () => (receiver.deliveries.length >= wanted ? true : undefined),
        settledWithinMs,
        () => `${receiver.deliveries.length} of ${wanted} posts came`,
      );
    },
    /** Has the answer to a post wait for the promise that is returned for it. */
    answerAfter: (wait: (post: ReceivedDelivery) => Promise<unknown> | undefined) => {
      beforeAnswer = wait;
    },
    /** Resolves when PostgreSQL knows of all that is to be delivered. */
    untilWritten: () => untilCounted((found) => found.reduce((sum, { count }) => sum + count, 0)),
    /** Resolves when all has arrived that PostgreSQL knows of. */
    untilWrittenArrived: () =>
      eventually(async () => {
        const found = await stores.database.rows<StatusCount>(countByStatus, [creators]);
        return found.every(({ status }) => status === 'succeeded') ? true : undefined;
      }, settledWithinMs),
    /** Resolves when PostgreSQL says that everything arrived. */
    settled: () => untilCounted((found) => found.find(({ status }) => status === 'succeeded')?.count ?? 0),
    /** Compares the books. */
    expectNothingLost: async () => {
      const found = await rows();
      const told = promised();
      // Every (event, subscription) has one delivery, and there is no other.
      const pairs = found.map((row) => `${row.event_id} ${publicId('whk', row.subscription_id)}`);
      expect(pairs.sort()).toEqual(
        told.map(({ change: { message }, subscription }) => `${message.id} ${subscription.id}`).sort(),
      );
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
      expect(found.filter((row) => !hasEndedWell(row, taken))).toEqual([]);
      expectOneName(receiver.deliveries, told, found);
      expectRightBytes(receiver.deliveries, subscriptions);
      expect(await stores.broker.takeDeadLetters('webhook-worker.events')).toEqual([]);
    },
    stop: () => receiver.stop(),
  };
}
export type DeliveryAudit = Awaited<ReturnType<typeof deliveryAudit>>;

async function subscribeAll(
  stores: WebhookStores,
  worker: Served,
  receiverUrl: string,
): Promise<Subscription[]> {
  const subscriptions: Subscription[] = [];
  for (let creator = 0; creator < creatorCount; creator += 1) {
    const client = await aClient(stores, worker);
    for (const { events, secrets } of kinds) {
      const path = `/hook/${subscriptions.length}`;
      const secret = secrets[creator % secrets.length] ?? '';
      const id = await client.subscribe(new URL(path, receiverUrl).href, events, secret);
      subscriptions.push({ path, id, creatorId: client.creatorId, events, secret });
    }
  }
  return subscriptions;
}

/** `delivery number`. */
export function attemptOf({ headers }: ReceivedDelivery): string {
  return `${String(headers['x-service-delivery'])} ${String(headers['x-service-attempt'])}`;
}

/**
 * It ended by its last attempt, the only one that succeeded, which the receiver took. The attempts' numbers
 * have no gap and no repetition. Earlier ones that the receiver took stand in the history as lost or timed
 * out.
 */
function hasEndedWell(row: AuditedDelivery, taken: ReadonlySet<string>): boolean {
  const { status, attempt_count: count, numbers, outcomes } = row;
  return (
    status === 'succeeded' &&
    numbers.length === count &&
    numbers.every((number, index) => number === index + 1) &&
    outcomes.indexOf('succeeded') === count - 1 &&
    outcomes.every((outcome, index) => {
      const wasTaken = taken.has(`${publicId('whd', row.id)} ${index + 1}`);
      return wasTaken ? heardOrNot.has(outcome) : outcome !== 'succeeded';
    })
  );
}

/**
 * A subscription learns of a business change under one event id and one delivery id, however often it is
 * posted.
 */
function expectOneName(
  posts: readonly ReceivedDelivery[],
  told: readonly { readonly change: Change; readonly subscription: Subscription }[],
  found: readonly AuditedDelivery[],
): void {
  const arrived = new Set(
    posts.map(({ path, body, headers }) =>
      [path, body.event, body.data['order_id'], body.id, headers['x-service-delivery']].join(' '),
    ),
  );
  const deliveries = new Map(
    found.map((row) => [`${row.event_id} ${publicId('whk', row.subscription_id)}`, publicId('whd', row.id)]),
  );
  const wanted = told.map(({ change: { message, orderId }, subscription: { path, id } }) =>
    [path, message.type, orderId, publicId('evt', message.id), deliveries.get(`${message.id} ${id}`)].join(
      ' ',
    ),
  );
  expect([...arrived].sort()).toEqual(wanted.sort());
}

/** The same bytes in every attempt, signed with the subscription's own secret. */
function expectRightBytes(posts: readonly ReceivedDelivery[], subscriptions: readonly Subscription[]): void {
  const secrets = new Map(subscriptions.map(({ path, secret }) => [path, secret]));
  const bytes = new Map<string, Buffer>();
  const wrong = posts.filter(({ path, headers, rawBody }) => {
    const id = String(headers['x-service-delivery']);
    const before = bytes.get(id) ?? rawBody;
    bytes.set(id, before);
    const signed = isSignedWith(secrets.get(path) ?? 'none', headers['x-service-signature'], rawBody);
    return !signed || !before.equals(rawBody);
  });
  expect(wrong).toEqual([]);
}
