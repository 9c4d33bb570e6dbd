import { createIdempotencyKeys } from '@fulfilment/http-service/idempotency-table';
import { createMessagingTables } from '@fulfilment/messaging';
import { createOperatorAudit } from '@fulfilment/service-host/operator';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const subscriptions = `
  CREATE TABLE webhook_subscriptions (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    secret bytea NOT NULL, -- AES-256-GCM
    previous_secret bytea,
    previous_secret_until timestamptz,
    api_version text NOT NULL,
    -- The owner's maximum of concurrent attempts.
    max_in_flight smallint NOT NULL DEFAULT 64 CHECK (max_in_flight BETWEEN 1 AND 64),
    status text NOT NULL CHECK (status IN ('active', 'disabled')),
    consecutive_failures int NOT NULL DEFAULT 0,
    failing_since timestamptz,
    last_delivery_at timestamptz,
    last_failure_at timestamptz,
    -- The notifications that its owner got since its receiver began to fail (delivery/health/notify-owners.ts).
    failure_notified boolean NOT NULL DEFAULT false,
    disabling_notified boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
    disabled_reason text CHECK (disabled_reason IN ('owner', 'gone', 'failing')),
    lane text NOT NULL DEFAULT 'fast' CHECK (lane IN ('fast', 'slow')),
    latency_ms double precision NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The issue time of the access token: a later revocation of the access deletes the subscription.
    authorized_at timestamptz NOT NULL DEFAULT date_trunc('second', now()),
    deleted_at timestamptz,
    deleted_reason text CHECK (deleted_reason IN ('owner', 'operator', 'client_deleted', 'client_disconnected'))
  ) WITH (fillfactor = 70); -- its counters change with every delivery
  CREATE INDEX webhook_subscriptions_owner
    ON webhook_subscriptions (creator_id, client_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX webhook_subscriptions_client ON webhook_subscriptions (client_id, id) WHERE deleted_at IS NULL;
  CREATE INDEX webhook_subscriptions_failing ON webhook_subscriptions (failing_since)
    WHERE failing_since IS NOT NULL;

  -- Access of clients that was revoked (subscriptions/revocation/access-revocations.ts).
  CREATE TABLE webhook_access_revocations (
    client_id text NOT NULL,
    creator_id uuid, -- null: to every creator
    revoked_at timestamptz NOT NULL,
    -- Whether subscriptions of this access may be left.
    unfinished boolean NOT NULL DEFAULT false,
    UNIQUE NULLS NOT DISTINCT (client_id, creator_id)
  );
  CREATE INDEX webhook_access_revocations_unfinished ON webhook_access_revocations (revoked_at) WHERE unfinished;

  -- The owner requests of the last minute (history/owner-requests/owner-request-quota.ts): a row for each subscription and kind.
  CREATE TABLE webhook_owner_requests (
    subscription_id uuid NOT NULL REFERENCES webhook_subscriptions ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('test', 'retry', 'recover')),
    requested_at timestamptz[] NOT NULL,
    PRIMARY KEY (subscription_id, kind)
  );
`;

// Everything that grows is partitioned by the day of its event: old days are dropped, not deleted
// (maintenance/day-partitions.ts). Unique indexes instead of primary keys: a key that begins with the day
// leads to plans that read a whole index, and these also serve lookups by the id alone.
const history = `
  -- The body that is sent: one per event and api_version, whose bytes never change.
  CREATE TABLE webhook_events (
    day date NOT NULL,
    id uuid NOT NULL,
    api_version text NOT NULL,
    event text NOT NULL,
    creator_id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    traceparent text,
    -- The order or product that the event is about; null for test events.
    subject_id uuid,
    body bytea NOT NULL
  ) PARTITION BY RANGE (day);
  CREATE UNIQUE INDEX webhook_events_id_api_version_day_idx ON webhook_events (id, api_version, day);
  CREATE INDEX webhook_events_subject ON webhook_events (subject_id) WHERE subject_id IS NOT NULL;

  -- One event for one subscription. The id is derived from both, so a repeated message adds no second one.
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
    -- Whole milliseconds, as the API shows it: as a filter, the shown time finds exactly this delivery.
    created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    completed_at timestamptz,
    -- During a manual retry: the state to which the delivery returns if that attempt fails.
    prior_status text,
    prior_failure_reason text,
    prior_trigger text,
    prior_next_attempt_at timestamptz,
    prior_completed_at timestamptz,
    CHECK ((status = 'in_flight') = (lease_token IS NOT NULL)),
    CHECK ((status IN ('pending', 'retrying')) = (next_attempt_at IS NOT NULL)),
    CHECK ((status IN ('succeeded', 'failed')) = (completed_at IS NOT NULL))
  ) PARTITION BY RANGE (day);
  CREATE UNIQUE INDEX webhook_deliveries_id_day_idx ON webhook_deliveries (id, day);
  -- These have open deliveries only: history does not slow the work down.
  CREATE INDEX webhook_deliveries_due
    ON webhook_deliveries (subscription_id, next_attempt_at) WHERE status IN ('pending', 'retrying');
  CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (lease_until) WHERE status = 'in_flight';
  CREATE INDEX webhook_deliveries_held ON webhook_deliveries (subscription_id, created_at) WHERE status = 'held';
  CREATE INDEX webhook_deliveries_longest_held ON webhook_deliveries (created_at) WHERE status = 'held';
  CREATE INDEX webhook_deliveries_failed
    ON webhook_deliveries (subscription_id, created_at) WHERE status = 'failed' AND NOT test;
  -- One index for each filter of the history, in the order of its pages (history/delivery-page.ts).
  CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (subscription_id, created_at DESC, id DESC);
  CREATE INDEX webhook_deliveries_by_status
    ON webhook_deliveries (subscription_id, status, created_at DESC, id DESC);
  CREATE INDEX webhook_deliveries_by_event
    ON webhook_deliveries (subscription_id, event, status, created_at DESC, id DESC);
  CREATE INDEX webhook_deliveries_tests ON webhook_deliveries (subscription_id, created_at DESC, id DESC) WHERE test;

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

  -- For days without a partition: no event is rejected for its date. Its rows are also found by their day.
  CREATE TABLE webhook_events_other_days PARTITION OF webhook_events DEFAULT;
  CREATE INDEX webhook_events_other_days_day ON webhook_events_other_days (day);
  CREATE TABLE webhook_deliveries_other_days PARTITION OF webhook_deliveries DEFAULT;
  CREATE INDEX webhook_deliveries_other_days_day ON webhook_deliveries_other_days (day);
  CREATE TABLE webhook_attempts_other_days PARTITION OF webhook_attempts DEFAULT;
`;

// Changes of many deliveries that are not complete yet (bulk-updates/bulk-updates.ts).
const bulkUpdates = `
  -- Subscriptions whose deliveries may not have the state that the subscription's status implies.
  CREATE TABLE webhook_state_syncs (
    subscription_id uuid PRIMARY KEY,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX webhook_state_syncs_due ON webhook_state_syncs (due_at);

  CREATE TABLE webhook_recoveries (
    id uuid PRIMARY KEY,
    subscription_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    statuses text[] NOT NULL,
    created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX webhook_recoveries_subscription ON webhook_recoveries (subscription_id);
  CREATE INDEX webhook_recoveries_due ON webhook_recoveries (due_at);
`;

/** The schema before the first release (ADR 37). */
export class Baseline implements MigrationInterface {
  readonly name = 'Baseline1795392000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables + createIdempotencyKeys + createOperatorAudit);
    await runner.query(subscriptions + history + bulkUpdates);
  }

  down(): Promise<void> {
    throw new Error('The baseline cannot be reverted. Drop the database instead.');
  }
}
