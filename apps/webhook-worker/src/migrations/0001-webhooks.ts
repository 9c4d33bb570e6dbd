import { createMessagingTables, dropMessagingTables } from '@fulfilment/messaging';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const subscriptions = `
  CREATE TABLE webhook_subscriptions (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    secret bytea NOT NULL, -- AES-256-GCM (secret-box.ts)
    previous_secret bytea,
    previous_secret_until timestamptz,
    api_version text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'disabled')),
    consecutive_failures int NOT NULL DEFAULT 0,
    failing_since timestamptz,
    last_delivery_at timestamptz,
    last_failure_at timestamptz,
    disabled_at timestamptz,
    disabled_reason text CHECK (disabled_reason IN ('owner', 'gone', 'failing')),
    lane text NOT NULL DEFAULT 'fast' CHECK (lane IN ('fast', 'slow')),
    latency_ms double precision NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
  ) WITH (fillfactor = 70); -- its counters change with every delivery
  CREATE INDEX webhook_subscriptions_owner
    ON webhook_subscriptions (creator_id, client_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
`;

// Everything that grows is partitioned by the day of its event, so the past is dropped, not deleted (history/day-partitions.ts).
const history = `
  -- What is sent: one body per event and api_version, whose bytes never change.
  CREATE TABLE webhook_events (
    day date NOT NULL,
    id uuid NOT NULL,
    api_version text NOT NULL,
    event text NOT NULL,
    creator_id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    traceparent text,
    body bytea NOT NULL,
    PRIMARY KEY (day, id, api_version)
  ) PARTITION BY RANGE (day);

  -- One event for one subscription. The id is derived from both, so the same message never makes two.
  CREATE TABLE webhook_deliveries (
    day date NOT NULL,
    id uuid NOT NULL,
    subscription_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event text NOT NULL,
    api_version text NOT NULL,
    test boolean NOT NULL DEFAULT false,
    status text NOT NULL CHECK (status IN ('pending', 'in_flight', 'retrying', 'held', 'succeeded', 'failed')),
    failure_reason text CHECK (failure_reason IN ('exhausted', 'expired', 'gone', 'subscription_deleted')),
    trigger text NOT NULL DEFAULT 'auto' CHECK (trigger IN ('auto', 'manual', 'recover', 'test')),
    attempt_count int NOT NULL DEFAULT 0,
    schedule_step int NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    lease_token uuid,
    lease_until timestamptz,
    attempt_started_at timestamptz,
    last_status_code int,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    PRIMARY KEY (day, id),
    CHECK ((status = 'in_flight') = (lease_token IS NOT NULL)),
    CHECK ((status IN ('pending', 'retrying')) = (next_attempt_at IS NOT NULL)),
    CHECK ((status IN ('succeeded', 'failed')) = (completed_at IS NOT NULL))
  ) PARTITION BY RANGE (day);
  -- The three small ones hold open deliveries only: history does not slow the work down.
  CREATE INDEX webhook_deliveries_due
    ON webhook_deliveries (subscription_id, next_attempt_at) WHERE status IN ('pending', 'retrying');
  CREATE INDEX webhook_deliveries_id ON webhook_deliveries (id);
  CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (lease_until) WHERE status = 'in_flight';
  CREATE INDEX webhook_deliveries_held ON webhook_deliveries (subscription_id, created_at) WHERE status = 'held';
  CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (subscription_id, created_at DESC, id DESC);

  CREATE TABLE webhook_attempts (
    day date NOT NULL,
    delivery_id uuid NOT NULL,
    number int NOT NULL,
    trigger text NOT NULL,
    started_at timestamptz NOT NULL,
    duration_ms int,
    outcome text NOT NULL,
    status_code int,
    response_headers jsonb,
    response_body bytea,
    response_truncated boolean NOT NULL DEFAULT false,
    PRIMARY KEY (day, delivery_id, number)
  ) PARTITION BY RANGE (day);

  -- For days nobody made a partition for: an event is never refused for its date.
  CREATE TABLE webhook_events_other_days PARTITION OF webhook_events DEFAULT;
  CREATE TABLE webhook_deliveries_other_days PARTITION OF webhook_deliveries DEFAULT;
  CREATE TABLE webhook_attempts_other_days PARTITION OF webhook_attempts DEFAULT;
`;

export class Webhooks1764000000001 implements MigrationInterface {
  readonly name = 'Webhooks1764000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables);
    await runner.query(subscriptions);
    await runner.query(history);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP TABLE webhook_attempts, webhook_deliveries, webhook_events, webhook_subscriptions',
    );
    await runner.query(dropMessagingTables);
  }
}
