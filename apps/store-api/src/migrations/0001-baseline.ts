import { createMessagingTables } from '@fulfilment/messaging';
import { createOperatorAudit } from '@fulfilment/service-host/operator';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createCatalogue, createShipping } from './baseline-catalogue.js';

const orders = `
  CREATE TABLE orders (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    version int NOT NULL DEFAULT 1,
    status text NOT NULL CHECK (status IN ('pending', 'processing', 'payment_failed', 'shipped', 'delivered', 'cancelled')),
    platform text NOT NULL,
    store_id text NOT NULL,
    external_order_id text NOT NULL,
    currency text NOT NULL,
    total_amount bigint NOT NULL CHECK (total_amount BETWEEN 0 AND 9007199254740991),
    item_count int NOT NULL,
    -- It contains the quote (ADR 47).
    shipping_rate_id text NOT NULL,
    shipping_amount bigint NOT NULL,
    shipping_address jsonb NOT NULL,
    -- Keys and values of the client.
    metadata jsonb NOT NULL DEFAULT '{}',
    country_code text NOT NULL,
    billing_method text NOT NULL,
    payment_status text NOT NULL CHECK (payment_status IN ('pending', 'paid', 'failed', 'refunded')),
    charge_amount bigint NOT NULL CHECK (charge_amount BETWEEN 0 AND 9007199254740991),
    charged_at timestamptz,
    refunded_at timestamptz,
    packages jsonb NOT NULL DEFAULT '[]',
    -- The fulfilment events about its packages.
    package_history jsonb NOT NULL DEFAULT '[]',
    tracking_updated_at timestamptz,
    delivered_at timestamptz,
    reason text,
    -- When the completer may process a pending order.
    resume_at timestamptz,
    -- How often its charge was requested without an outcome; 0 if the request's process died.
    resume_tries int NOT NULL DEFAULT 0,
    -- When the address was redacted.
    redacted_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 85);
  -- One index for each filter of the list and for each pair of filters.
  CREATE INDEX orders_newest ON orders (creator_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_status ON orders (creator_id, status, created_at DESC, id DESC);
  CREATE INDEX orders_by_platform ON orders (creator_id, platform, created_at DESC, id DESC);
  CREATE INDEX orders_by_store ON orders (creator_id, store_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_external_id ON orders (creator_id, external_order_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_status_and_platform ON orders (creator_id, status, platform, created_at DESC, id DESC);
  CREATE INDEX orders_by_status_and_store ON orders (creator_id, status, store_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_platform_and_store ON orders (creator_id, platform, store_id, created_at DESC, id DESC);
  -- For updated_since: the changed orders, in the order of their changes.
  CREATE INDEX orders_changed ON orders (creator_id, updated_at, id);
  -- One index for each of the two statements of order-completer.ts that claim charges.
  CREATE INDEX orders_to_resume_first ON orders (resume_at) WHERE resume_at IS NOT NULL AND resume_tries = 0;
  CREATE INDEX orders_to_resume_again ON orders (resume_at) WHERE resume_at IS NOT NULL AND resume_tries > 0;
  CREATE INDEX orders_with_old_address ON orders ((coalesce(delivered_at, updated_at)))
    WHERE redacted_at IS NULL AND status NOT IN ('pending', 'processing');

  CREATE TABLE order_items (
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    position int NOT NULL,
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    release_id uuid NOT NULL,
    title text NOT NULL,
    release_title text NOT NULL,
    product_type text NOT NULL,
    ean text,
    quantity int NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
    unit_amount bigint NOT NULL CHECK (unit_amount BETWEEN 0 AND 9007199254740991),
    royalty_rate int NOT NULL,
    PRIMARY KEY (order_id, position)
  );

  CREATE TABLE idempotency_keys (
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    claimed_by uuid NOT NULL,
    lease_until timestamptz NOT NULL,
    order_id uuid,
    response jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (creator_id, client_id, key)
  );
  CREATE INDEX idempotency_keys_order ON idempotency_keys (order_id) WHERE order_id IS NOT NULL;
  CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

  -- Fulfilment events that arrived before the events they build on (ADR 16).
  CREATE TABLE deferred_events (
    message_id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    occurred_at timestamptz NOT NULL,
    body jsonb NOT NULL,
    deferred_at timestamptz NOT NULL DEFAULT now(),
    -- When it is sent to its queue again at the latest.
    retry_at timestamptz NOT NULL
  );
  CREATE INDEX deferred_events_of_order ON deferred_events (order_id, occurred_at);
  CREATE INDEX deferred_events_due ON deferred_events (retry_at);
  ALTER TABLE inbox DROP CONSTRAINT inbox_outcome_check,
    ADD CONSTRAINT inbox_outcome_check CHECK (outcome IN ('applied', 'refused', 'held'));
`;

const stock = `
  -- Stock of limited editions that an order's charge took, and returned when it failed.
  CREATE TABLE stock_movements (
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    attempt int NOT NULL DEFAULT 1,
    product_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('taken', 'returned')),
    quantity int NOT NULL CHECK (quantity > 0),
    -- Not now(), which is when the transaction began: the product's row may be locked later.
    moved_at timestamptz DEFAULT clock_timestamp(),
    PRIMARY KEY (order_id, attempt, product_id, kind)
  );
  CREATE INDEX stock_movements_of_product ON stock_movements (product_id, moved_at);

  -- Changes that the warehouse reported.
  CREATE TABLE stock_adjustments (
    message_id uuid PRIMARY KEY,
    product_id uuid NOT NULL,
    delta int NOT NULL CHECK (delta <> 0),
    occurred_at timestamptz NOT NULL
  );
  CREATE INDEX stock_adjustments_of_product ON stock_adjustments (product_id, occurred_at);
`;

const payments = `
  -- One row per attempt; its id is the payment provider's idempotency key.
  CREATE TABLE charges (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    attempt int NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    payment_method text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'declined', 'refund_due', 'refunded')),
    -- The provider's id of the charge, once it has responded. The sandbox has none.
    provider_reference text,
    settled_at timestamptz,
    -- When a due refund is requested next; null: at once.
    refund_at timestamptz,
    refund_reference text,
    refund_tries int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (order_id, attempt)
  );
  -- Two concurrent attempts would charge twice.
  CREATE UNIQUE INDEX charges_one_open ON charges (order_id) WHERE status = 'pending';
  CREATE INDEX charges_refund_at ON charges (refund_at NULLS FIRST) WHERE status = 'refund_due';
  CREATE INDEX charges_by_settlement ON charges (settled_at) WHERE settled_at IS NOT NULL;
  CREATE INDEX charges_refund_reference ON charges (refund_reference) WHERE refund_reference IS NOT NULL;

  -- The idempotency keys at Stripe (ADR 34). No foreign key to charges: the adapter knows no orders.
  CREATE TABLE stripe_keys (
    charge_id uuid PRIMARY KEY,
    -- The charge is requested under its id, then under <id>:2 and so on; written before the key is used.
    key_number int NOT NULL DEFAULT 1,
    -- When Stripe was found to repeat an error under this key.
    unusable_since timestamptz,
    -- The customer of the request with the first key. Null: no customer, or not known.
    customer text,
    -- The PaymentIntent that a lookup has found.
    payment_intent text,
    refund_key_number int NOT NULL DEFAULT 1
  );

  -- The charges of the sandbox provider, committed separately from the orders, as a provider's would be.
  CREATE TABLE sandbox_charges (
    idempotency_key text PRIMARY KEY,
    -- ord_…: shows a second charge of an order, whatever its key.
    order_id text,
    amount bigint NOT NULL,
    currency text NOT NULL,
    payment_method text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('succeeded', 'declined')),
    charged_at timestamptz NOT NULL DEFAULT now(),
    refunded_at timestamptz
  );

  -- The days that were compared with the payment provider; the lease is that of the replica that does it.
  CREATE TABLE payment_reconciliations (
    day date PRIMARY KEY,
    lease_until timestamptz NOT NULL,
    finished_at timestamptz,
    findings int
  );
`;

/** The schema before the first release (ADR 37). */
export class Baseline implements MigrationInterface {
  readonly name = 'Baseline1795392000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables + createOperatorAudit);
    await runner.query(createCatalogue + createShipping + orders + stock + payments);
  }

  down(): Promise<void> {
    throw new Error('The baseline cannot be reverted. Drop the database instead.');
  }
}
