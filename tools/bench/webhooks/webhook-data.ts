import { Failure } from '../../dev/failure.ts';
import { BenchDatabase } from '../bench-database.ts';

/** A subscription with its creator and the path at the receiver. */
export interface Subscriber {
  readonly creatorId: string;
  /** UUID of the subscription. */
  readonly subscriptionId: string;
  readonly path: string;
}

/** An event that must be delivered exactly once, to one subscriber. */
export interface SentEvent {
  /** UUID of the event. */
  readonly id: string;
  readonly subscriber: Subscriber;
}

/** An event as it is stored. Its body is what the worker posts. */
export interface WrittenEvent extends SentEvent {
  readonly body: string;
}

const event = 'order.created';

const insertBacklog = `
  WITH incoming AS (
    SELECT (now() AT TIME ZONE 'UTC')::date AS day, i.*, body::jsonb ->> 'api_version' AS api_version
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) AS i(id, creator_id, subscription_id, body)
  ), events AS (
    INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
    SELECT day, id, api_version, '${event}', creator_id, now(), convert_to(body, 'UTF8') FROM incoming
  )
  INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, next_attempt_at)
  SELECT day, gen_random_uuid(), subscription_id, id, '${event}', api_version, 'pending', now() FROM incoming`;

/**
 * Deliveries of the last 30 days that succeeded at the first attempt. They have no rows in webhook_events,
 * which the worker reads only by key.
 */
const insertHistory = `
  WITH delivered AS (
    INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, attempt_count, schedule_step,
                                    attempt_started_at, last_status_code, created_at, completed_at)
    SELECT (at AT TIME ZONE 'UTC')::date, gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], gen_random_uuid(), '${event}', '2026-11-01',
           'succeeded', 1, 1, at, 204, at, at
    FROM generate_series($2::int, $3::int - 1) AS n, LATERAL (SELECT now() - n * (interval '30 days' / $4::int) AS at) AS moment
    RETURNING day, id, created_at
  )
  INSERT INTO webhook_attempts (day, delivery_id, number, trigger, started_at, duration_ms, outcome, status_code, response_headers, response_body)
  SELECT day, id, 1, 'auto', created_at, 12, 'succeeded', 204, '{"date": "Sat, 21 Nov 2026 12:00:00 GMT"}', ''
  FROM delivered`;
const deliveriesAtOnce = 500_000;

/** Creates the partitions of past days. The service creates only the partitions from yesterday on. */
const createPastPartitions = `
  DO $$ DECLARE day date; parent text;
  BEGIN
    FOR day IN SELECT (now() AT TIME ZONE 'UTC')::date - n FROM generate_series(2, 30) AS n LOOP
      FOREACH parent IN ARRAY ARRAY['webhook_deliveries', 'webhook_attempts', 'webhook_events'] LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                       parent || '_' || to_char(day, 'YYYY_MM_DD'), parent, day, day + 1);
      END LOOP;
    END LOOP;
  END $$`;

// Cheap to poll: the conditions are those of two partial indexes, which are almost empty when all deliveries
// are settled.
const openDeliveries = `
  SELECT EXISTS (SELECT FROM webhook_deliveries WHERE status IN ('pending', 'retrying') AND subscription_id = ANY($1))
      OR EXISTS (SELECT FROM webhook_deliveries WHERE status = 'in_flight' AND lease_until > '-infinity') AS open`;

/** The database of a webhook-worker under measurement. */
export class WebhookData extends BenchDatabase {
  // Prevents sequential scans, which the planner may choose before a table with new rows is analysed.
  static override readonly setup = ['SET enable_seqscan = off'];

  /** Returns the body of an event that the service wrote. @throws Failure when there is no event */
  async sampleBody(): Promise<string> {
    const { rows } = await this.client.query<{ body: string }>(
      `SELECT convert_from(body, 'UTF8') AS body FROM webhook_events LIMIT 1`,
    );
    const [row] = rows;
    if (row === undefined) throw new Failure('No event was written so far.');
    return row.body;
  }

  /** Adds events and their deliveries, due now, as the fan-out stores them. */
  async addBacklog(events: readonly WrittenEvent[]): Promise<void> {
    await this.client.query(insertBacklog, [
      events.map(({ id }) => id),
      events.map(({ subscriber }) => subscriber.creatorId),
      events.map(({ subscriber }) => subscriber.subscriptionId),
      events.map(({ body }) => body),
    ]);
  }

  /** Adds settled deliveries with one attempt each. */
  async addHistory(subscribers: readonly Subscriber[], count: number): Promise<void> {
    await this.client.query(createPastPartitions);
    const ids = subscribers.map(({ subscriptionId }) => subscriptionId);
    for (let from = 0; from < count; from += deliveriesAtOnce) {
      const to = Math.min(from + deliveriesAtOnce, count);
      await this.client.query(insertHistory, [ids, from, to, count]);
    }
  }

  /** Whether the subscribers have no due delivery, and no delivery at all is in flight. */
  async isSettled(subscribers: readonly Subscriber[]): Promise<boolean> {
    const ids = subscribers.map(({ subscriptionId }) => subscriptionId);
    const { rows } = await this.client.query<{ open: boolean }>(openDeliveries, [ids]);
    return rows[0]?.open === false;
  }

  /** Counts all deliveries, those that succeeded with their first attempt, and successful attempts. */
  async countDeliveries(): Promise<Readonly<Record<string, number>>> {
    const { rows } = await this.client.query<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM webhook_deliveries) AS deliveries,
              (SELECT count(*)::int FROM webhook_deliveries WHERE status = 'succeeded' AND attempt_count = 1) AS succeeded,
              (SELECT count(*)::int FROM webhook_attempts WHERE outcome = 'succeeded' AND status_code = 204) AS attempts`,
    );
    return rows[0] ?? {};
  }
}
