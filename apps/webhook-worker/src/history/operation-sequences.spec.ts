import { parsePublicId, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import {
  aClient,
  orderCreated,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';

const seed = 20261121;
const scheduleMs = [0, 20, 20];
const longAgo = '2020-01-01T00:00:00Z';

const deliveriesOf = statement(
  'test.deliveries-of',
  `SELECT d.id, d.status, d.failure_reason, d.trigger, d.attempt_count, d.schedule_step, d.lease_token IS NOT NULL AS leased,
     d.next_attempt_at IS NOT NULL AS planned, d.completed_at IS NOT NULL AS completed, d.prior_status,
     ARRAY(SELECT a.number || ' ' || a.trigger || ' ' || a.outcome || ' ' || coalesce(a.status_code, 0)
       FROM webhook_attempts a WHERE a.day = d.day AND a.delivery_id = d.id ORDER BY a.number) AS attempts
   FROM webhook_deliveries d WHERE d.subscription_id = $1 ORDER BY d.id`,
);
const subscriptionOf = statement(
  'test.subscription-of',
  `SELECT status, deleted_at IS NOT NULL AS deleted,
     EXISTS (SELECT FROM webhook_alignments a WHERE a.subscription_id = s.id)
       OR status = 'active' AND EXISTS (SELECT FROM webhook_recoveries r WHERE r.subscription_id = s.id) AS moving
   FROM webhook_subscriptions s WHERE id = $1`,
);
const loseLeases = statement(
  'test.lose-leases',
  "UPDATE webhook_deliveries SET lease_until = now() - interval '1 second' WHERE subscription_id = $1 AND status = 'in_flight'",
);

interface Row {
  readonly id: string;
  readonly status: string;
  readonly failure_reason: string | null;
  readonly trigger: string;
  readonly attempt_count: number;
  readonly schedule_step: number;
  readonly leased: boolean;
  readonly planned: boolean;
  readonly completed: boolean;
  readonly prior_status: string | null;
  /** `number trigger outcome status`. */
  readonly attempts: string[];
}

let stores: WebhookStores;
let worker: Worker;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores, {
    WEBHOOK_RETRY_SCHEDULE_MS: scheduleMs.join(','),
    WEBHOOK_TIMEOUT_MS: '60000', // an attempt ends when the test says so
  });
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});
beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(() => receiver.stop());

/** A subscription whose every attempt waits for the test, and all that can happen to it. */
async function play() {
  const client = await aClient(stores, worker);
  const path = `/hook/${client.creatorId}`;
  const id = await client.subscribe(new URL(path, receiver.url).href);
  const uuid = parsePublicId('whk', id);
  const held = new Map<string, ServerResponse>();
  receiver.answerWith((response, { headers }) => {
    const key = `${String(headers['x-service-delivery'])} ${String(headers['x-service-attempt'])}`;
    expect(held.has(key)).toBe(false); // no number comes twice
    held.set(key, response);
  });
  const rows = () => stores.database.rows<Row>(deliveriesOf, [uuid]);
  const subscription = () =>
    stores.database.row<{ status: string; deleted: boolean; moving: boolean }>(subscriptionOf, [uuid]);
  const recovered = new Set<string>();

  const answer = (status: number, which: number): void => {
    const waiting = [...held].filter(([, response]) => !response.writableEnded);
    waiting[which % waiting.length]?.[1].writeHead(status).end();
  };
  const some = async (which: number): Promise<string | undefined> => {
    const found = await rows();
    const row = found[which % found.length];
    return row === undefined ? undefined : publicId('whd', row.id);
  };

  return {
    rows,
    subscription,
    recovered: (row: Row) => recovered.has(row.id),
    does: {
      publish: () => stores.broker.publish(orderCreated(client.creatorId)),
      take: (which: number) => answer(204, which),
      refuse: (which: number) => answer(500, which),
      leave: (which: number) => answer(410, which),
      retry: async (which: number) => {
        const delivery = await some(which);
        if (delivery !== undefined) await client.post({}, `/${id}/deliveries/${delivery}/retry`);
      },
      recover: async () => {
        for (const row of await rows()) recovered.add(row.id);
        await client.post({ since: longAgo }, `/${id}/recover`);
      },
      disable: () => client.patch(id, { status: 'disabled' }),
      enable: () => client.patch(id, { status: 'active' }),
      /**
       * As if the worker had stood still for longer than its leases: answers that it reads then change
       * nothing.
       */
      lose: async () => {
        const late = [...held].filter(([, response]) => !response.writableEnded);
        await stores.database.run(loseLeases, [uuid]);
        worker.reconcile();
        await eventually(async () => {
          const underWay = (await rows()).filter(({ status }) => status === 'in_flight').map(attemptOf);
          return late.some(([attempt]) => underWay.includes(attempt)) ? undefined : true;
        });
        for (const [, response] of late) response.writeHead(204).end();
      },
      delete: () => client.delete(id),
    },
    /** Resolves when nothing more happens until the test does something. */
    quiet: () => {
      let last = '';
      return eventually(
        async () => {
          const [found, state] = [await rows(), await subscription()];
          last = JSON.stringify({ found, state, held: [...held.keys()] });
          const underWay = found.filter(({ status }) => status === 'in_flight');
          const arrived = underWay.every((row) =>
            held.has(`${publicId('whd', row.id)} ${row.attempt_count}`),
          );
          // A failing receiver gets one at a time.
          const waits = found.some(({ planned }) => planned) && underWay.length === 0;
          return arrived && !waits && state?.moving === false ? true : undefined;
        },
        15_000,
        () => last,
      );
    },
    /** Resolves when every delivery has ended. */
    over: () => {
      let last = '';
      return eventually(
        async () => {
          const found = await rows();
          last = JSON.stringify(found);
          return found.every(({ completed }) => completed) ? true : undefined;
        },
        15_000,
        () => last,
      );
    },
    /** Ends all that waits. */
    takeAll: () => {
      for (const response of held.values()) if (!response.writableEnded) response.writeHead(204).end();
      receiver.answerWith((response) => response.writeHead(204).end());
    },
  };
}
type Play = Awaited<ReturnType<typeof play>>;

/** An attempt as the receiver knows it: delivery and number. */
function attemptOf(row: Row): string {
  return `${publicId('whd', row.id)} ${row.attempt_count}`;
}

/** What must be so of a delivery at any time. */
function problemsOf(row: Row, recovered: boolean): string[] {
  const { status, attempts, attempt_count: count, schedule_step: step } = row;
  const told = attempts.map((attempt) => attempt.split(' '));
  const numbers = told.map(([number]) => Number(number));
  const ended = ['succeeded', 'failed'].includes(status);
  /** Attempts that spent a step of the schedule: those asked for by hand and lost ones do not. */
  const scheduled = told.filter(([, trigger, outcome]) => trigger !== 'manual' && outcome !== 'lost').length;
  const wrong: [string, boolean][] = [
    ['is leased and not under way, or the other way round', row.leased !== (status === 'in_flight')],
    [
      'is planned and not open, or the other way round',
      row.planned !== ['pending', 'retrying'].includes(status),
    ],
    ['has ended and has not', row.completed !== ended],
    [
      'has a reason and did not fail, or the other way round',
      (row.failure_reason !== null) !== (status === 'failed'),
    ],
    ['has numbers with a gap or a repetition', numbers.some((number, index) => number !== index + 1)],
    ['has another count than attempts', numbers.length !== (status === 'in_flight' ? count - 1 : count)],
    ['has spent more than its schedule', step > scheduleMs.length],
    ['has spent its schedule twice', !recovered && scheduled > scheduleMs.length],
    ['has spent other steps than were made', !recovered && step !== scheduled],
    ['was given up too early', !recovered && row.failure_reason === 'exhausted' && step < scheduleMs.length],
    [
      'succeeded, and no attempt did',
      status === 'succeeded' && !told.some(([, , outcome]) => outcome === 'succeeded'),
    ],
    [
      'was taken, and is not succeeded',
      ended && !recovered && status !== 'succeeded' && told.some(([, , outcome]) => outcome === 'succeeded'),
    ],
  ];
  return wrong.filter(([, is]) => is).map(([what]) => `${what}: ${JSON.stringify(row)}`);
}

async function expectPossible(game: Play): Promise<Row[]> {
  const found = await game.rows();
  expect(found.flatMap((row) => problemsOf(row, game.recovered(row)))).toEqual([]);
  return found;
}

const which = fc.nat(5);
const moves = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant('publish' as const), which }) },
  { weight: 4, arbitrary: fc.record({ name: fc.constant('refuse' as const), which }) },
  { weight: 3, arbitrary: fc.record({ name: fc.constant('retry' as const), which }) },
  {
    weight: 7,
    arbitrary: fc.record({
      name: fc.constantFrom('take', 'leave', 'recover', 'disable', 'enable', 'lose'),
      which,
    }),
  },
);

describe('attempts, retries by hand, recoveries, disabling, enabling and lost leases in any order', () => {
  it.each([
    ['quiet', 12],
    ['hasty', 30],
  ])(
    'leave no delivery where it cannot be, nor spend its schedule twice (%s)',
    async (pace, runs) => {
      const sequence = fc.record({
        steps: fc.array(moves, { minLength: 4, maxLength: 14 }),
        deleted: fc.boolean(),
      });
      const property = fc.asyncProperty(sequence, async ({ steps, deleted }) => {
        const game = await play();
        await game.does.publish();
        for (const step of steps) {
          if (pace === 'quiet') await game.quiet();
          await game.does[step.name](step.which);
          await expectPossible(game);
        }
        if (pace === 'quiet') await game.quiet();
        await (deleted ? game.does.delete() : game.does.enable());
        game.takeAll();
        await game.over();
        await expectPossible(game);
      });
      await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
    },
    60_000,
  );
});
