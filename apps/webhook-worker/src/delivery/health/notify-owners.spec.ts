import { type Message, parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { MaintenanceJob } from '../../maintenance/maintenance-job.js';
import { haveStatuses, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';

const given = setUpWorker({
  WEBHOOK_RETRY_SCHEDULE_MS: '0,50', // two attempts
  WEBHOOK_DISABLE_FAILURES: '10',
});

/** Copies the messages of the outbox, from which the relay deletes them. */
beforeAll(() =>
  given.stores.dataSource.query(`
    CREATE TABLE published (body jsonb);
    CREATE FUNCTION copy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO published VALUES (NEW.body); RETURN NEW; END $$;
    CREATE TRIGGER copy BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION copy()`),
);

const readPublished = statement(
  'test.read-published',
  "SELECT body FROM published WHERE body->'data'->>'creator_id' = $1",
);
const setFailing = statement(
  'test.set-failing',
  `UPDATE webhook_subscriptions SET consecutive_failures = $2, failing_since = now() - $3 * interval '1 hour' WHERE id = $1`,
);

async function aSubscription() {
  const { client, id } = await given.subscriber();
  return {
    id,
    client,
    respondWith: (status: number) =>
      given.receiver.respondWith((response) => response.writeHead(status).end()),
    /** Publishes an event, and waits until all deliveries have these statuses. */
    deliver: async (...statuses: string[]) => {
      await given.publish(orderCreated(client.creatorId));
      await given.deliveriesWhen(haveStatuses(...statuses));
    },
    setFailing: ({ hours, failures }: { hours: number; failures: number }) =>
      given.stores.database.run(setFailing, [parsePublicId('whk', id), failures, hours]),
    published: async () => {
      const rows = await given.stores.database.rows<{ body: Message<string, Record<string, unknown>> }>(
        readPublished,
        [client.creatorId],
      );
      return rows.map(({ body }): Record<string, unknown> => ({ type: body.type, ...body.data }));
    },
  };
}

describe("a subscription's owner", () => {
  it('is notified once when deliveries exhaust their schedules, and a second time only after a success', async () => {
    const { id, client, respondWith, deliver, published } = await aSubscription();
    respondWith(500);
    await deliver('failed');
    await deliver('failed', 'failed');
    expect(await published()).toEqual([
      {
        type: 'webhook.subscription.degraded',
        subscription_id: parsePublicId('whk', id),
        creator_id: client.creatorId,
        client_id: expect.any(String),
        reason: 'delivery_failed',
        consecutive_failures: 2,
        failing_since: expect.any(String),
        disabled_at: null,
      },
    ]);
    respondWith(204);
    await deliver('failed', 'failed', 'succeeded');
    respondWith(500);
    await deliver('failed', 'failed', 'succeeded', 'failed');
    expect(await published()).toHaveLength(2);
  });

  it('is notified of failures at a new URL, for which the count starts at 0', async () => {
    const { id, client, respondWith, deliver, published } = await aSubscription();
    respondWith(500);
    await deliver('failed');
    await client.patch(id, { url: given.receiver.url }).expect(200); // the same URL
    expect((await client.get(`/${id}`)).body).toMatchObject({ consecutive_failures: 2 });
    await client.patch(id, { url: new URL('/new', given.receiver.url).href }).expect(200);
    expect((await client.get(`/${id}`)).body).toMatchObject({ consecutive_failures: 0 });
    await deliver('failed', 'failed');
    expect(await published()).toHaveLength(2);
  });

  it('is warned once, at most a day before the subscription is disabled for failures', async () => {
    const { setFailing, published } = await aSubscription();
    const maintenance = given.worker.app.get(MaintenanceJob);
    // A subscription is disabled after 72 hours, so the warning is due after 48.
    await setFailing({ hours: 47, failures: 10 });
    await maintenance.round();
    await setFailing({ hours: 49, failures: 9 });
    await maintenance.round();
    expect(await published()).toEqual([]);
    await setFailing({ hours: 49, failures: 10 });
    await maintenance.round();
    await maintenance.round();
    // The maintenance of the worker runs as well. If it has locked the row, it sends the warning, later.
    const warnings = await eventually(async () => {
      const found = await published();
      return found.length > 0 ? found : undefined;
    });
    expect(warnings).toMatchObject([{ type: 'webhook.subscription.degraded', reason: 'to_be_disabled' }]);
    const inHours = (Date.parse(String(warnings[0]?.['disabled_at'])) - Date.now()) / 3_600_000;
    expect(Math.round(inHours)).toBe(23);
  });

  it('is notified when the subscription is disabled, for failures or by a 410', async () => {
    const failing = await aSubscription();
    await failing.setFailing({ hours: 73, failures: 9 });
    failing.respondWith(500);
    await failing.deliver('held');
    expect((await failing.client.get(`/${failing.id}`)).body).toMatchObject({ status: 'disabled' });
    expect(await failing.published()).toMatchObject([
      { type: 'webhook.subscription.disabled', reason: 'failing', consecutive_failures: 10 },
    ]);
    given.stores.resetCreators(); // `deliver` then waits only for deliveries of the next subscription
    const gone = await aSubscription();
    gone.respondWith(410);
    await gone.deliver('failed');
    expect(await gone.published()).toMatchObject([{ type: 'webhook.subscription.disabled', reason: 'gone' }]);
  });

  it('is not notified when the owner disables the subscription', async () => {
    const { id, client, published } = await aSubscription();
    await client.patch(id, { status: 'disabled' }).expect(200);
    expect(await published()).toEqual([]);
  });
});
