import { type Database, statement } from '@fulfilment/database';

const expire = statement(
  'deliveries.expire-leases',
  `WITH expired AS (
     SELECT day, id FROM webhook_deliveries WHERE status = 'in_flight' AND lease_until < now()
     ORDER BY lease_until LIMIT 500 FOR UPDATE SKIP LOCKED
   ), freed AS (
     UPDATE webhook_deliveries d SET status = 'retrying', next_attempt_at = now(), lease_token = NULL, lease_until = NULL
     FROM expired WHERE d.day = expired.day AND d.id = expired.id
     RETURNING d.day, d.id, d.attempt_count, d.trigger, d.attempt_started_at
   )
   INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, outcome)
   SELECT day, id, attempt_count, trigger, attempt_started_at, 'lost' FROM freed
   ON CONFLICT DO NOTHING`,
);

/**
 * Frees up to 500 deliveries of lost attempts: they are due at once, and no step of the schedule is spent.
 * Returns their number. The caller frees the rest in its next round.
 */
export function expireLeases(database: Pick<Database, 'run'>): Promise<number> {
  return database.run(expire);
}
