import { statement } from '@fulfilment/database';
import { NotFound } from '@fulfilment/error-envelope';
import { jest } from '@jest/globals';
import { visibleHeaders } from '../delivery/settlement/settlement.rules.js';
import { orderCreated, haveStatuses } from '../test/webhook-worker.fixture.js';
import { ReadDeliveries } from './read-deliveries.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const given = setUpWorker();

const writeAttempts = statement(
  'test.write-attempts',
  `INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, outcome, status_code, response_headers, response_body)
   SELECT day, id, number, 'manual', now(), 'http_error', 500, :headers, :body
   FROM webhook_deliveries, generate_series(2, :count) AS number WHERE id = :id`,
);

/**
 * Creates a delivery with `count` attempts, all but the first with this response. Returns a function that
 * reads the delivery.
 */
async function withAttempts(count: number, body: Buffer, header = 'text/plain') {
  const { client, id } = await given.subscriber();
  await given.publish(orderCreated(client.creatorId));
  const [row] = await given.deliveriesWhen(haveStatuses('succeeded'));
  const headers = Object.fromEntries(visibleHeaders.map((name) => [name, header]));
  await given.stores.database.run(writeAttempts, { id: row?.id, count, headers, body });
  const [listed] = (await client.get(`/${id}/deliveries`)).body.data;
  return () => client.get(`/${id}/deliveries/${listed.id}`).expect(200);
}

describe('a delivery with thousands of attempts', () => {
  it('shows the newest hundred in order, and the whole stored response of the newest 25', async () => {
    // An older body is cut after 256 bytes, within the euro sign.
    const read = await withAttempts(3_000, Buffer.from(`${'a'.repeat(255)}€${'b'.repeat(500)}`));
    const { attempts } = (await read()).body;
    expect(attempts.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, index) => 2_901 + index),
    );
    // The oldest of the newest 25, and the one before it.
    expect(attempts[75]).toMatchObject({
      response_body: `${'a'.repeat(255)}€${'b'.repeat(500)}`,
      response_truncated: false,
    });
    expect(attempts[74]).toMatchObject({ response_body: 'a'.repeat(255), response_truncated: true });
  });

  it('has a representation of less than 4 MiB, whatever the responses were', async () => {
    const read = await withAttempts(3_000, Buffer.alloc(4_096, 1), '\ufffd'.repeat(1_024));
    expect(Buffer.byteLength((await read()).text)).toBeLessThan(4 * 1024 * 1024);
  });
});

describe('requests for deliveries', () => {
  it('are handled twelve at a time, and rejected with 503 while a hundred more wait', async () => {
    const { client, id } = await given.subscriber();
    const open = Promise.withResolvers<never>();
    const findOne = jest.spyOn(given.worker.app.get(ReadDeliveries), 'findOne').mockReturnValue(open.promise);
    const rejected = Promise.withResolvers<void>();
    const statuses = Array.from({ length: 12 + 100 + 1 }, async () => {
      const { status } = await client.get(`/${id}/deliveries/whd_00000000000000000000000000`);
      if (status === 503) rejected.resolve();
      return status;
    });
    await rejected.promise;
    expect(findOne).toHaveBeenCalledTimes(12);
    open.reject(new NotFound('webhook delivery'));
    expect((await Promise.all(statuses)).toSorted()).toEqual([...Array(12 + 100).fill(404), 503]);
    findOne.mockRestore();
  });
});
