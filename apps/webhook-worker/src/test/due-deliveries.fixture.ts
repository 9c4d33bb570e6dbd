import { type Sql, statement } from '@fulfilment/database';

/** Body of the events that fixtures write. */
export const eventBody = JSON.stringify({
  id: 'evt_01m7xwmx3fyb2a9s6d4k8q1r7c',
  api_version: '2026-11-01',
  created_at: '2026-11-01T12:00:00.000Z',
  event: 'order.created',
  data: {},
});
const write = statement(
  'test.write-due',
  `WITH event AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
     VALUES (:day, gen_random_uuid(), 'v', 'order.created', gen_random_uuid(), now(), convert_to(:body, 'UTF8')) RETURNING day, id
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, next_attempt_at)
   SELECT event.day, gen_random_uuid(), :subscription_id, event.id, 'order.created', 'v', 'pending', now() - :due_seconds * interval '1 second'
   FROM event, generate_series(1, :count)`,
);

const subscribe = statement(
  'test.subscribe',
  `INSERT INTO webhook_subscriptions (id, creator_id, client_id, url, events, secret, api_version, status, last_delivery_at)
   VALUES ($1, $1, 'c', 'https://receiver.example', '{order.created}', 'x', 'v', 'active', now())`,
);

/** Writes a subscription whose receiver has accepted a delivery, so that it counts as healthy. */
export async function writeHealthySubscription(sql: Sql, id: string): Promise<void> {
  await sql.run(subscribe, [id]);
}

/** Writes deliveries of one event that have been due for `forSeconds`, without a wake-up. */
export async function writeDue(
  sql: Sql,
  subscriptionId: string,
  { day, count = 1, forSeconds = 60 }: { day: string; count?: number; forSeconds?: number },
): Promise<void> {
  await sql.run(write, {
    day,
    subscription_id: subscriptionId,
    count,
    body: eventBody,
    due_seconds: forSeconds,
  });
}

/** Returns the UTC date `days` from now, as `YYYY-MM-DD`. */
export function dayFromNow(days: number): string {
  return timeFromNow(days).toISOString().slice(0, 10);
}

export function timeFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}
