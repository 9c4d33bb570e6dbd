import { createMessagingTables, dropMessagingTables } from '@fulfilment/messaging';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const catalogue = `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;

  CREATE TABLE creators (
    id uuid PRIMARY KEY,
    version int NOT NULL,
    organisation_id text NOT NULL,
    name text,
    payment_method text,
    payment_terms_accepted boolean NOT NULL,
    tax_interview_completed boolean NOT NULL,
    registered_at timestamptz NOT NULL
  );

  -- What a kind of product weighs, takes and costs unless the product says otherwise.
  CREATE TABLE product_types (
    product_type text PRIMARY KEY,
    title text NOT NULL,
    weight_grams int NOT NULL CHECK (weight_grams > 0),
    lead_time_days int NOT NULL CHECK (lead_time_days >= 0),
    royalty_rate int NOT NULL CHECK (royalty_rate BETWEEN 0 AND 10000),
    price_gbp bigint NOT NULL, price_usd bigint NOT NULL, price_eur bigint NOT NULL, price_jpy bigint NOT NULL
  );

  CREATE TABLE releases (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    name text NOT NULL,
    artist_name text NOT NULL,
    additional_artists text[] NOT NULL DEFAULT '{}',
    release_date date,
    description text,
    cover_image_url text,
    copyright text,
    release_type_id int,
    ean text,
    search_text text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX releases_newest ON releases (creator_id, created_at DESC, id DESC);
  CREATE INDEX releases_search ON releases USING gin (search_text gin_trgm_ops);

  CREATE TABLE products (
    id uuid PRIMARY KEY,
    release_id uuid NOT NULL REFERENCES releases ON DELETE CASCADE,
    creator_id uuid NOT NULL,
    position int NOT NULL,
    title text NOT NULL,
    product_type text NOT NULL REFERENCES product_types,
    status text NOT NULL CHECK (status IN ('available', 'pending', 'unavailable')),
    lead_time_days int NOT NULL,
    weight_grams int CHECK (weight_grams > 0),
    barcode text,
    glb_model text,
    royalty_rate int NOT NULL CHECK (royalty_rate BETWEEN 0 AND 10000),
    -- Held in every currency or in none: a product without prices cannot be available.
    price_gbp bigint, price_usd bigint, price_eur bigint, price_jpy bigint,
    limited_edition boolean NOT NULL DEFAULT false,
    quantity int CHECK (quantity >= 0),
    version int NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (limited_edition = (quantity IS NOT NULL)),
    CHECK (status <> 'available' OR (price_gbp IS NOT NULL AND price_usd IS NOT NULL AND price_eur IS NOT NULL AND price_jpy IS NOT NULL))
  ) WITH (fillfactor = 80);
  CREATE INDEX products_of_release ON products (release_id, position);

  CREATE TABLE tracks (
    product_id uuid NOT NULL REFERENCES products ON DELETE CASCADE,
    position int NOT NULL CHECK (position >= 1),
    title text NOT NULL,
    duration_seconds int CHECK (duration_seconds >= 0),
    side text,
    PRIMARY KEY (product_id, position)
  );
`;

const shipping = `
  CREATE TABLE shipping_zone_countries (
    country_code text PRIMARY KEY CHECK (country_code ~ '^[A-Z]{2}$'),
    zone text NOT NULL
  );
  CREATE TABLE shipping_services (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    description text,
    carriers text[] NOT NULL,
    regions text[] NOT NULL DEFAULT '{}',
    position int NOT NULL
  );
  -- The price up to a weight. Above the heaviest band each further 500 g costs extra_500g_amount of that band.
  CREATE TABLE rate_cards (
    service_id uuid NOT NULL REFERENCES shipping_services ON DELETE CASCADE,
    zone text NOT NULL,
    currency text NOT NULL CHECK (currency IN ('GBP', 'USD', 'EUR', 'JPY')),
    max_weight_grams int NOT NULL CHECK (max_weight_grams > 0),
    amount bigint NOT NULL CHECK (amount >= 0),
    extra_500g_amount bigint NOT NULL CHECK (extra_500g_amount >= 0),
    PRIMARY KEY (zone, currency, service_id, max_weight_grams)
  );
  CREATE TABLE quotes (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    service_id uuid NOT NULL,
    country_code text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    weight_grams int,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX quotes_expired ON quotes (expires_at);
`;

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
    rate_id uuid NOT NULL,
    shipping_amount bigint NOT NULL,
    shipping_address jsonb NOT NULL,
    country_code text NOT NULL,
    billing_method text NOT NULL,
    payment_status text NOT NULL CHECK (payment_status IN ('pending', 'paid', 'failed', 'refunded')),
    charge_amount bigint NOT NULL CHECK (charge_amount BETWEEN 0 AND 9007199254740991),
    charged_at timestamptz,
    refunded_at timestamptz,
    packages jsonb NOT NULL DEFAULT '[]',
    tracking_updated_at timestamptz,
    delivered_at timestamptz,
    reason text,
    -- When the completer may take a pending order in hand.
    resume_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 85);
  CREATE INDEX orders_newest ON orders (creator_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_status ON orders (creator_id, status, created_at DESC, id DESC);
  CREATE INDEX orders_by_platform ON orders (creator_id, platform, created_at DESC, id DESC);
  CREATE INDEX orders_by_store ON orders (creator_id, store_id, created_at DESC, id DESC);
  CREATE INDEX orders_by_external_id ON orders (creator_id, external_order_id, created_at DESC, id DESC);
  CREATE INDEX orders_to_resume ON orders (resume_at) WHERE resume_at IS NOT NULL;

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

  -- One row an attempt; its id is the provider's idempotency key.
  CREATE TABLE charges (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    attempt int NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    payment_method text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'declined', 'refund_due', 'refunded')),
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    UNIQUE (order_id, attempt)
  );
  CREATE INDEX charges_to_refund ON charges (settled_at) WHERE status = 'refund_due';

  -- What was taken from limited editions and given back: each at most once an order.
  CREATE TABLE stock_movements (
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    product_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('taken', 'returned')),
    quantity int NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, product_id, kind)
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

  -- The sandbox provider's own books, committed apart from the orders, as a provider's would be.
  CREATE TABLE sandbox_charges (
    idempotency_key text PRIMARY KEY,
    amount bigint NOT NULL,
    currency text NOT NULL,
    payment_method text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('succeeded', 'declined')),
    charged_at timestamptz NOT NULL DEFAULT now(),
    refunded_at timestamptz
  );
`;

export class Store1764000000001 implements MigrationInterface {
  name = 'Store1764000000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables + catalogue + shipping + orders);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE sandbox_charges, idempotency_keys, stock_movements, charges, order_items, orders;
      DROP TABLE quotes, rate_cards, shipping_services, shipping_zone_countries;
      DROP TABLE tracks, products, releases, product_types, creators;
      ${dropMessagingTables}
    `);
  }
}
