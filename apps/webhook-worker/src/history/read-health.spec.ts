import { parsePublicId, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import fc from 'fast-check';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const given = setUpWorker();

const writeDelivery = statement(
  'test.write-delivery',
  `INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, test, status, created_at, completed_at)
   VALUES ((:at::timestamptz AT TIME ZONE 'UTC')::date, :id, :subscription_id, :id, 'order.created', 'v', :test, 'succeeded', :at, :at)`,
);
const writeAttempts = statement(
  'test.write-attempts',
  `INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, outcome, status_code, duration_ms)
   SELECT (:at::timestamptz AT TIME ZONE 'UTC')::date, :id, number, 'auto', :at, outcome, status_code, duration_ms
   FROM unnest(:outcomes::text[], :status_codes::int[], :durations_ms::int[]) WITH ORDINALITY AS a(outcome, status_code, duration_ms, number)`,
);
const setFailing = statement(
  'test.set-failing',
  `UPDATE webhook_subscriptions SET status = :status, consecutive_failures = :failures, failing_since = :since,
     disabled_at = CASE WHEN :status = 'disabled' THEN now() END WHERE id = :id`,
);

interface Attempt {
  readonly outcome: string;
  readonly status_code: number | null;
  readonly duration_ms: number | null;
}
const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

async function aSubscription() {
  const { client, id } = await given.subscriber();
  const uuid = parsePublicId('whk', id) ?? '';
  return {
    client,
    uuid,
    health: async (query = '') => (await client.get(`/${id}/health${query}`).expect(200)).body,
    deliver: async (attempts: readonly Attempt[], { at = hoursAgo(1), test = false } = {}) => {
      const id = uuidv7();
      await given.stores.database.run(writeDelivery, { id, subscription_id: uuid, test, at });
      await given.stores.database.run(writeAttempts, {
        id,
        at,
        outcomes: attempts.map(({ outcome }) => outcome),
        status_codes: attempts.map(({ status_code }) => status_code),
        durations_ms: attempts.map(({ duration_ms }) => duration_ms),
      });
    },
  };
}

const responded = (status: number, durationMs: number): Attempt => ({
  outcome: status < 300 ? 'succeeded' : 'http_error',
  status_code: status,
  duration_ms: durationMs,
});
const lost: Attempt = { outcome: 'lost', status_code: null, duration_ms: null };
const attempt = fc.oneof(
  fc
    .record({ status: fc.constantFrom(200, 204, 404, 500), ms: fc.nat(20_000) })
    .map(({ status, ms }) => responded(status, ms)),
  fc.record({
    outcome: fc.constantFrom('timeout', 'dns_error'),
    status_code: fc.constant(null),
    duration_ms: fc.nat(20_000),
  }),
  fc.constant(lost),
);

/** The smallest value that is not less than this share of the values. */
function percentile(values: readonly number[], share: number): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)];
}

describe('the health of a receiver', () => {
  it('has the numbers of the attempts in the history, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(attempt, { minLength: 1, maxLength: 5 }), { maxLength: 12 }),
        async (deliveries) => {
          const { health, deliver } = await aSubscription();
          for (const attempts of deliveries) await deliver(attempts);
          const counted = deliveries.flat().filter(({ outcome }) => outcome !== 'lost');
          const times = counted.flatMap(({ status_code, duration_ms }) =>
            status_code === null || duration_ms === null ? [] : [duration_ms],
          );
          const shown = await health();
          expect(shown).toMatchObject({ deliveries: deliveries.length, attempts: counted.length });
          const succeeded = counted.filter(({ outcome }) => outcome === 'succeeded').length;
          expect(shown.success_rate).toEqual(counted.length === 0 ? null : succeeded / counted.length);
          expect(shown.response_ms).toEqual(
            times.length === 0
              ? null
              : { p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) },
          );
          const keyOf = (one: Omit<Attempt, 'duration_ms'>) => `${one.outcome} ${one.status_code}`;
          const shownOutcomes: (Omit<Attempt, 'duration_ms'> & { attempts: number })[] = shown.outcomes;
          const countedByKey = [...Map.groupBy(counted, keyOf)];
          expect(new Map(shownOutcomes.map((one) => [keyOf(one), one.attempts]))).toEqual(
            new Map(countedByKey.map(([key, attempts]) => [key, attempts.length])),
          );
        },
      ),
      { numRuns: 15 },
    );
  });

  it('excludes test events, older deliveries, and those of other subscriptions', async () => {
    const { health, deliver } = await aSubscription();
    const other = await aSubscription();
    await deliver([responded(204, 10)]);
    await deliver([responded(500, 10)], { test: true });
    await deliver([responded(500, 10)], { at: hoursAgo(30) });
    await other.deliver([responded(500, 10)]);
    expect(await health()).toMatchObject({ deliveries: 1, success_rate: 1 });
    expect(await health('?hours=48')).toMatchObject({ deliveries: 2, success_rate: 0.5 });
  });

  it('covers up to seven days, and lists the fifty most frequent outcomes', async () => {
    const { health, deliver } = await aSubscription();
    await deliver(
      Array.from({ length: 51 }, (_, index) => responded(400 + index, 10)),
      { at: hoursAgo(167) },
    );
    const { attempts, outcomes } = await health('?hours=168');
    expect([attempts, outcomes.length]).toEqual([51, 50]);
  });

  it('counts at most 1000 deliveries, the newest, with 100 attempts of each', async () => {
    const { uuid, health, deliver } = await aSubscription();
    const writeWithoutAttempts = statement(
      'test.write-without-attempts',
      `INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, created_at, completed_at)
       SELECT current_date, gen_random_uuid(), $1, $1, 'order.created', 'v', 'succeeded', now() - interval '2 hours', now()
       FROM generate_series(1, 1001)`,
    );
    await given.stores.database.run(writeWithoutAttempts, [uuid]);
    await deliver(Array.from({ length: 130 }, () => responded(204, 5)));
    expect(await health()).toMatchObject({ deliveries: 1000, attempts: 100 });
  });

  it('says when a failing subscription would be disabled', async () => {
    const { uuid, health } = await aSubscription();
    expect((await health()).failing).toBeNull();
    const since = new Date('2026-11-21T09:30:00.120Z');
    await given.stores.database.run(setFailing, { id: uuid, status: 'active', failures: 5, since });
    expect((await health()).failing).toEqual({
      since: since.toISOString(),
      consecutive_failures: 5,
      failures_until_disabled: 15,
      disabled_at_earliest: '2026-11-24T09:30:00.120Z',
    });
    await given.stores.database.run(setFailing, { id: uuid, status: 'disabled', failures: 25, since });
    expect(await health()).toMatchObject({ status: 'disabled', failing: null });
  });

  it('is rejected with 404 for another creator or client, 403 without the scope, and 400 for an invalid period', async () => {
    const { client } = await aSubscription();
    const id = await client.subscribe(given.receiver.url);
    const otherCreatorsClient = await given.client();
    await otherCreatorsClient.get(`/${id}/health`).expect(404);
    const otherClient = await given.client({ creator_id: client.creatorId });
    await otherClient.get(`/${id}/health`).expect(404);
    const writer = await given.client({ ...client.claims, scope: 'webhooks:create' });
    await writer.get(`/${id}/health`).expect(403);
    for (const hours of ['0', '169', 'x']) {
      const { body } = await client.get(`/${id}/health?hours=${hours}`).expect(400);
      expect(body.details).toMatchObject([{ field: 'hours' }]);
    }
  });
});
