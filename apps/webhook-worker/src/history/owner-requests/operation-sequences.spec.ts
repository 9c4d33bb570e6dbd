import { parsePublicId, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

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
// `updating`: a state sync or recovery is not complete. Recoveries of a disabled subscription wait.
const subscriptionOf = statement(
  'test.subscription-of',
  `SELECT status, deleted_at IS NOT NULL AS deleted,
     EXISTS (SELECT FROM webhook_state_syncs a WHERE a.subscription_id = s.id)
       OR (status = 'active' AND EXISTS (SELECT FROM webhook_recoveries r WHERE r.subscription_id = s.id)) AS updating
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
  /** `<number> <trigger> <outcome> <status>`. */
  readonly attempts: string[];
}

const given = setUpWorker({
  WEBHOOK_RETRY_SCHEDULE_MS: scheduleMs.join(','),
  WEBHOOK_TIMEOUT_MS: '60000', // an attempt ends when the test says so
});

/** A subscription whose attempts wait for the test, and all operations on it. */
async function startScenario() {
  const client = await given.client();
  const path = `/hook/${client.creatorId}`;
  const id = await client.subscribe(new URL(path, given.receiver.url).href);
  const uuid = parsePublicId('whk', id);
  const responses = new Map<string, ServerResponse>();
  given.receiver.respondWith((response, { headers }) => {
    const key = `${String(headers['x-service-delivery'])} ${String(headers['x-service-attempt'])}`;
    expect(responses.has(key)).toBe(false); // no attempt number is repeated
    responses.set(key, response);
  });
  const rows = () => given.stores.database.rows<Row>(deliveriesOf, [uuid]);
  const subscription = () =>
    given.stores.database.row<{ status: string; deleted: boolean; updating: boolean }>(subscriptionOf, [
      uuid,
    ]);
  const recovered = new Set<string>();

  const respond = (status: number, choice: number): void => {
    const waiting = [...responses].filter(([, response]) => !response.writableEnded);
    waiting[choice % waiting.length]?.[1].writeHead(status).end(); // none if no attempt waits
  };
  const pickDelivery = async (choice: number): Promise<string | undefined> => {
    const found = await rows();
    const row = found[choice % found.length];
    return row === undefined ? undefined : publicId('whd', row.id);
  };

  return {
    rows,
    subscription,
    wasRecovered: (row: Row) => recovered.has(row.id),
    operations: {
      publish: () => given.publish(orderCreated(client.creatorId)),
      accept: (choice: number) => respond(204, choice),
      reject: (choice: number) => respond(500, choice),
      gone: (choice: number) => respond(410, choice),
      retry: async (choice: number) => {
        const delivery = await pickDelivery(choice);
        if (delivery !== undefined) await client.post({}, `/${id}/deliveries/${delivery}/retry`);
      },
      recover: async () => {
        await client.post({ since: longAgo }, `/${id}/recover`);
        for (const row of await rows()) recovered.add(row.id);
      },
      disable: () => client.patch(id, { status: 'disabled' }).expect(200),
      enable: () => client.patch(id, { status: 'active' }).expect(200),
      /** Ends the leases, as if the worker had stalled for longer: later responses must change nothing. */
      loseLeases: async () => {
        const late = [...responses].filter(([, response]) => !response.writableEnded);
        await given.stores.database.run(loseLeases, [uuid]);
        given.worker.reconcile();
        await eventually(async () => {
          const inFlight = (await rows()).filter(({ status }) => status === 'in_flight').map(attemptOf);
          return !late.some(([attempt]) => inFlight.includes(attempt));
        });
        for (const [, response] of late) response.writeHead(204).end();
      },
      delete: () => client.delete(id),
    },
    /** Resolves when every response has been settled: until then, a 410 may disable the subscription. */
    untilSettled: () =>
      eventually(async () => {
        const inFlight = (await rows()).filter(({ status }) => status === 'in_flight');
        return !inFlight.some((row) => responses.get(attemptOf(row))?.writableEnded === true);
      }),
    /** Resolves when nothing more happens without an operation of the test. */
    untilQuiet: () => {
      let last = '';
      return eventually(
        async () => {
          const [found, state] = [await rows(), await subscription()];
          last = JSON.stringify({ found, state, responses: [...responses.keys()] });
          const inFlight = found.filter(({ status }) => status === 'in_flight');
          const allWait = inFlight.every((row) => responses.get(attemptOf(row))?.writableEnded === false);
          // A failing receiver gets one attempt at a time.
          const isDue = found.some(({ planned }) => planned) && inFlight.length === 0;
          return allWait && !isDue && state?.updating === false;
        },
        { describe: () => last },
      );
    },
    /** Resolves when every delivery has ended. */
    untilEnded: () => {
      let last = '';
      return eventually(
        async () => {
          const found = await rows();
          last = JSON.stringify(found);
          return found.every(({ completed }) => completed);
        },
        { describe: () => last },
      );
    },
    /** Accepts all waiting and future attempts. */
    acceptAll: () => {
      for (const response of responses.values()) if (!response.writableEnded) response.writeHead(204).end();
      given.receiver.respondWith((response) => response.writeHead(204).end());
    },
  };
}
type Scenario = Awaited<ReturnType<typeof startScenario>>;

/** The running attempt of a delivery, by id and number. */
function attemptOf(row: Row): string {
  return `${publicId('whd', row.id)} ${row.attempt_count}`;
}

/** Returns the violated invariants of a delivery. */
function violationsOf(row: Row, recovered: boolean): string[] {
  const { status, attempts, attempt_count: count, schedule_step: step } = row;
  const fields = attempts.map((attempt) => attempt.split(' '));
  const numbers = fields.map(([number]) => Number(number));
  const ended = ['succeeded', 'failed'].includes(status);
  /** Attempts that spent a step of the schedule: not manual retries and lost attempts. */
  const scheduled = fields.filter(
    ([, trigger, outcome]) => trigger !== 'manual' && outcome !== 'lost',
  ).length;
  const violations: [string, boolean][] = [
    ['is leased but not in flight, or vice versa', row.leased !== (status === 'in_flight')],
    ['is planned but not open, or vice versa', row.planned !== ['pending', 'retrying'].includes(status)],
    ['is completed but has not ended, or vice versa', row.completed !== ended],
    [
      'has a failure reason but did not fail, or vice versa',
      (row.failure_reason !== null) !== (status === 'failed'),
    ],
    ['has attempt numbers with a gap or a repetition', numbers.some((number, index) => number !== index + 1)],
    [
      'has another attempt_count than attempts',
      numbers.length !== (status === 'in_flight' ? count - 1 : count),
    ],
    ['has spent more steps than its schedule has', step > scheduleMs.length],
    ['has spent its schedule twice', !recovered && scheduled > scheduleMs.length],
    ['has spent another number of steps than scheduled attempts', !recovered && step !== scheduled],
    [
      'failed before its schedule was exhausted',
      !recovered && row.failure_reason === 'exhausted' && step < scheduleMs.length,
    ],
    [
      'succeeded without a successful attempt',
      status === 'succeeded' && !fields.some(([, , outcome]) => outcome === 'succeeded'),
    ],
    [
      'has a successful attempt but did not succeed',
      ended &&
        !recovered &&
        status !== 'succeeded' &&
        fields.some(([, , outcome]) => outcome === 'succeeded'),
    ],
  ];
  return violations
    .filter(([, isViolated]) => isViolated)
    .map(([description]) => `${description}: ${JSON.stringify(row)}`);
}

async function expectInvariants(scenario: Scenario): Promise<Row[]> {
  const found = await scenario.rows();
  expect(found.flatMap((row) => violationsOf(row, scenario.wasRecovered(row)))).toEqual([]);
  return found;
}

/** Selects the delivery, or the waiting attempt, that an operation is about. */
const choice = fc.nat(5);
const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ name: fc.constant('publish' as const), choice }) },
  { weight: 4, arbitrary: fc.record({ name: fc.constant('reject' as const), choice }) },
  { weight: 3, arbitrary: fc.record({ name: fc.constant('retry' as const), choice }) },
  {
    weight: 7,
    arbitrary: fc.record({
      name: fc.constantFrom('accept', 'gone', 'recover', 'disable', 'enable', 'loseLeases'),
      choice,
    }),
  },
);

describe('attempts, manual retries, recoveries, disabling, enabling and lost leases in any order', () => {
  // `quiet`: a step begins when the previous one has no more effect. `immediate`: it begins at once.
  it.each([
    ['quiet', 12],
    ['immediate', 30],
  ])(
    'leave every delivery in a valid state, and never spend its schedule twice (%s)',
    async (pace, runs) => {
      const sequence = fc.record({
        steps: fc.array(operation, { minLength: 4, maxLength: 14 }),
        deleted: fc.boolean(),
      });
      const property = fc.asyncProperty(sequence, async ({ steps, deleted }) => {
        const scenario = await startScenario();
        await scenario.operations.publish();
        for (const step of steps) {
          if (pace === 'quiet') await scenario.untilQuiet();
          await scenario.operations[step.name](step.choice);
          await expectInvariants(scenario);
        }
        await (pace === 'quiet' ? scenario.untilQuiet() : scenario.untilSettled());
        await (deleted ? scenario.operations.delete() : scenario.operations.enable());
        scenario.acceptAll();
        await scenario.untilEnded();
        await expectInvariants(scenario);
      });
      await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
    },
    300_000,
  );
});
