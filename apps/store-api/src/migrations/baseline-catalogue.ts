/** A part of the baseline (0001-baseline.ts). */
export const createCatalogue = `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE EXTENSION IF NOT EXISTS btree_gin;

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

  -- Defaults of products.
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
  -- Editions get their artist when the creator's name is known.
  CREATE INDEX releases_without_artist ON releases (creator_id) WHERE artist_name = '';
  -- With the creator, a search costs what this creator has, not what all creators have.
  CREATE INDEX releases_search ON releases USING gin (creator_id, search_text gin_trgm_ops);

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
    -- In every currency or in none: a product without prices cannot be available.
    price_gbp bigint, price_usd bigint, price_eur bigint, price_jpy bigint,
    limited_edition boolean NOT NULL DEFAULT false,
    quantity int CHECK (quantity >= 0),
    -- Units sold that do not exist.
    oversold int NOT NULL DEFAULT 0,
    version int NOT NULL DEFAULT 1,
    -- When stock and status were last reported: a late event changes nothing.
    stock_set_at timestamptz,
    status_set_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (limited_edition = (quantity IS NOT NULL)),
    CHECK (status <> 'available' OR (price_gbp IS NOT NULL AND price_usd IS NOT NULL AND price_eur IS NOT NULL AND price_jpy IS NOT NULL))
  ) WITH (fillfactor = 80);
  CREATE INDEX products_of_release ON products (release_id, position);
  CREATE INDEX products_oversold ON products (oversold) WHERE oversold > 0;

  CREATE TABLE tracks (
    product_id uuid NOT NULL REFERENCES products ON DELETE CASCADE,
    position int NOT NULL CHECK (position >= 1),
    -- Null for tracks that the operator loaded with the catalogue.
    track_id uuid,
    title text NOT NULL,
    duration_seconds int CHECK (duration_seconds >= 0),
    side text,
    PRIMARY KEY (product_id, position)
  );
  CREATE UNIQUE INDEX tracks_once ON tracks (product_id, track_id) WHERE track_id IS NOT NULL;

  -- The Creator API's tracks of a release. No foreign key: a track may arrive before its release.
  CREATE TABLE processed_tracks (
    release_id uuid NOT NULL,
    track_id uuid NOT NULL,
    title text,
    -- From the tags of the file.
    position int CHECK (position >= 1),
    duration_seconds int NOT NULL,
    -- Of the newest version and of the first, in whatever order they arrive.
    processed_at timestamptz NOT NULL,
    first_processed_at timestamptz NOT NULL,
    PRIMARY KEY (release_id, track_id)
  );
`;

/** A part of the baseline (0001-baseline.ts). */
export const createShipping = `
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

  -- Working days from the hand-over to the carrier until the delivery, as the operator promises them.
  CREATE TABLE delivery_times (
    service_id uuid NOT NULL REFERENCES shipping_services ON DELETE CASCADE,
    zone text NOT NULL,
    min_days int NOT NULL CHECK (min_days >= 0),
    max_days int NOT NULL CHECK (max_days >= min_days),
    PRIMARY KEY (service_id, zone)
  );
`;
