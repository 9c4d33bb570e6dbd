import { type Sql, statement } from '@fulfilment/database';
import { eventBody } from './due-deliveries.fixture.js';

const days = 2;
// The rows of a day are a millisecond apart. Every `failedEvery`th row is a failed delivery, the others are
// succeeded ones. One row in a hundred has another event.
const write = statement(
  'test.write-past',
  `WITH event AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
     SELECT current_date - day, gen_random_uuid(), 'v', 'order.created', gen_random_uuid(), now(), convert_to(:body, 'UTF8')
     FROM generate_series(0, ${days - 1}) AS day RETURNING day, id
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, failure_reason, attempt_count, schedule_step,
     created_at, completed_at)
   SELECT event.day, gen_random_uuid(), :subscription_id, event.id, CASE WHEN n % 100 = 1 THEN 'order.cancelled' ELSE 'order.created' END, 'v',
     CASE WHEN failed THEN 'failed' ELSE 'succeeded' END, CASE WHEN failed THEN 'exhausted' END, 1, 1, at, at
   FROM event, generate_series(1, :count::int / ${days}) AS n,
     LATERAL (SELECT :failed_every::int > 0 AND n % greatest(:failed_every::int, 1) = 0 AS failed, event.day + n * interval '1 millisecond' AS at) AS made`,
);
const analyse = statement('test.analyse', 'ANALYZE webhook_deliveries');

/**
 * Writes the history of a subscription: `count` ended deliveries, half of them today and half yesterday.
 * @param failedEvery 0 for no failed deliveries
 */
export async function writeHistory(
  sql: Sql,
  subscriptionId: string,
  { count, failedEvery }: { count: number; failedEvery: number },
): Promise<void> {
  await sql.run(write, {
    subscription_id: subscriptionId,
    count,
    failed_every: failedEvery,
    body: eventBody,
  });
  await sql.run(analyse);
}
