import { createIdempotencyKeys } from '@fulfilment/http-service/idempotency-table';
import { createMessagingTables } from '@fulfilment/messaging';
import { createOperatorAudit } from '@fulfilment/service-host/operator';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createRequestRoles, enableRowSecurity } from './row-security.js';

const creators = `
  CREATE TABLE creators (
    id uuid PRIMARY KEY,
    version int NOT NULL,
    organisation_id text NOT NULL,
    name text,
    settlement_currency text NOT NULL,
    registered_at timestamptz NOT NULL
  );
  CREATE INDEX creators_newest ON creators (registered_at DESC, id DESC);
  CREATE INDEX creators_of_organisation ON creators (organisation_id, registered_at DESC, id DESC);

  -- Kept by triggers of creators. The organisation '' counts all creators.
  CREATE TABLE creator_counts (
    organisation_id text NOT NULL,
    registered_on date NOT NULL,
    creators bigint NOT NULL,
    PRIMARY KEY (organisation_id, registered_on)
  ) WITH (fillfactor = 80);
`;

const addToCounts = (changes: string): string => `
  INSERT INTO creator_counts AS c (organisation_id, registered_on, creators)
  SELECT o.organisation_id, (r.registered_at AT TIME ZONE 'UTC')::date, sum(r.change)
  FROM (${changes}) r CROSS JOIN LATERAL (VALUES (''), (r.organisation_id)) AS o(organisation_id)
  GROUP BY 1, 2 HAVING sum(r.change) <> 0 ORDER BY 1, 2
  ON CONFLICT (organisation_id, registered_on) DO UPDATE SET creators = c.creators + excluded.creators;`;
const added = 'SELECT organisation_id, registered_at, 1 AS change FROM added';
const removed = 'SELECT organisation_id, registered_at, -1 AS change FROM removed';
const trigger = (event: string, tables: string, body: string): string => `
  CREATE FUNCTION count_creators_${event}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$;
  CREATE TRIGGER count_${event} AFTER ${event.toUpperCase()} ON creators ${tables}
    FOR EACH STATEMENT EXECUTE FUNCTION count_creators_${event}();`;
const countCreators = [
  trigger('insert', 'REFERENCING NEW TABLE AS added', addToCounts(added)),
  trigger(
    'update',
    'REFERENCING NEW TABLE AS added OLD TABLE AS removed',
    addToCounts(`${added} UNION ALL ${removed}`),
  ),
  trigger('delete', 'REFERENCING OLD TABLE AS removed', addToCounts(removed)),
  trigger('truncate', '', 'DELETE FROM creator_counts;'),
].join('');

const orders = `
  -- No foreign key to creators: an order may arrive before its creator does.
  CREATE TABLE orders (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    version int NOT NULL,
    placed_at timestamptz NOT NULL,
    currency text NOT NULL,
    payment_status text NOT NULL,
    dispatch_status text NOT NULL,
    tracking_code text NOT NULL,
    gross_amount bigint NOT NULL,
    royalty_amount bigint NOT NULL,
    item_count bigint NOT NULL,
    country_code text,
    platform text,
    -- The times of the ledger's rows, present or future; null while no money was charged or refunded.
    charged_at timestamptz,
    refunded_at timestamptz
  );
  CREATE INDEX orders_newest ON orders (creator_id, placed_at DESC, id DESC);

  CREATE TABLE order_items (
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    position int NOT NULL,
    id uuid NOT NULL UNIQUE,
    creator_id uuid NOT NULL,
    release_id uuid NOT NULL,
    release_title text NOT NULL,
    product_type text NOT NULL,
    ean text NOT NULL,
    quantity int NOT NULL,
    unit_amount bigint NOT NULL,
    total_amount bigint NOT NULL,
    vat_amount bigint NOT NULL,
    royalty_amount bigint NOT NULL,
    royalty_rate int NOT NULL,
    PRIMARY KEY (order_id, position)
  );

  -- The number of orders for each combination of filters: an exact total reads a few rows, not all orders.
  CREATE TABLE order_counts (
    creator_id uuid NOT NULL,
    placed_on date NOT NULL,
    payment_status text NOT NULL,
    dispatch_status text NOT NULL,
    orders bigint NOT NULL,
    PRIMARY KEY (creator_id, placed_on, payment_status, dispatch_status)
  );

  -- What messages reported about an order; the row of an order has its newest state only.
  CREATE TABLE order_events (
    order_id uuid NOT NULL,
    message_id uuid NOT NULL,
    creator_id uuid NOT NULL,
    type text NOT NULL,
    occurred_at timestamptz NOT NULL,
    reason text,
    tracking jsonb,
    PRIMARY KEY (order_id, message_id)
  );

  -- Releases of the catalogue are known here only by their orders; a release never changes its creator.
  CREATE TABLE ordered_releases (
    release_id uuid PRIMARY KEY,
    creator_id uuid NOT NULL
  );
`;

const ledger = `
  -- Append-only: what was earned and refunded per item, in the order's currency and as settled.
  CREATE TABLE ledger (
    item_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('sale', 'refund')),
    order_id uuid NOT NULL,
    creator_id uuid NOT NULL,
    occurred_at timestamptz NOT NULL,
    period text NOT NULL,
    release_id uuid NOT NULL,
    ean text NOT NULL,
    units bigint NOT NULL,
    currency text NOT NULL,
    revenue bigint NOT NULL,
    vat bigint NOT NULL,
    royalty bigint NOT NULL,
    settlement_currency text NOT NULL,
    settled_revenue bigint NOT NULL,
    settled_vat bigint NOT NULL,
    settled_royalty bigint NOT NULL,
    -- The rates of the conversion; null if the currencies are the same.
    rate_date date,
    rate_from numeric,
    rate_to numeric,
    posted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (item_id, kind)
  );
  -- For rebuilds, which sum some creators at a time.
  CREATE INDEX ledger_of_creator ON ledger (creator_id);
  CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'The ledger is append-only.'; END $$;
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

  -- Sums of the ledger, written in the transaction of the rows they sum. numeric: a sum of bigints may be larger.
  CREATE TABLE monthly_statistics (
    creator_id uuid NOT NULL,
    period text NOT NULL,
    currency text NOT NULL,
    release_id uuid NOT NULL,
    ean text NOT NULL,
    units numeric NOT NULL,
    revenue numeric NOT NULL,
    royalties numeric NOT NULL,
    PRIMARY KEY (creator_id, period, currency, release_id, ean)
  );

  -- Monthly sums by product type, country and platform; '' if the order has no value.
  CREATE TABLE monthly_breakdown (
    creator_id uuid NOT NULL,
    currency text NOT NULL,
    period text NOT NULL,
    release_id uuid NOT NULL,
    product_type text NOT NULL,
    country_code text NOT NULL,
    platform text NOT NULL,
    units numeric NOT NULL,
    revenue numeric NOT NULL,
    royalties numeric NOT NULL,
    PRIMARY KEY (creator_id, currency, period, release_id, product_type, country_code, platform)
  );

  -- One row. The first open month only moves forward, so a closed month stays closed whatever a setting or a clock says.
  CREATE TABLE statistics_close (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    first_open_month text NOT NULL CHECK (first_open_month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
    changed_at timestamptz NOT NULL DEFAULT now()
  );
  INSERT INTO statistics_close (first_open_month) VALUES ('0001-01');

  -- What one euro is in a currency on a day (ECB reference rates); the euro itself is 1.
  CREATE TABLE exchange_rates (
    rate_date date NOT NULL,
    currency text NOT NULL,
    per_euro numeric NOT NULL CHECK (per_euro > 0),
    PRIMARY KEY (currency, rate_date)
  );

  -- One row: when the rates are fetched next. One replica at a time claims it.
  CREATE TABLE exchange_rate_source (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    next_fetch_at timestamptz NOT NULL
  );
  INSERT INTO exchange_rate_source (next_fetch_at) VALUES ('-infinity');

  -- Paid orders that cannot be posted yet: their creator, or the rate of their currency on that day, is not known.
  CREATE TABLE waiting_postings (
    order_id uuid PRIMARY KEY REFERENCES orders ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT now(),
    creator_id uuid NOT NULL,
    currency text NOT NULL,
    paid_on date NOT NULL
  );
  CREATE INDEX waiting_postings_groups ON waiting_postings (creator_id, currency, paid_on, order_id);
  CREATE INDEX waiting_postings_oldest ON waiting_postings (since);
`;

const releases = `
  CREATE TABLE editions (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL REFERENCES creators,
    title text NOT NULL,
    release_type_id int NOT NULL CHECK (release_type_id BETWEEN 1 AND 8),
    ean text,
    created_at timestamptz NOT NULL
  );
  CREATE INDEX editions_newest ON editions (creator_id, created_at DESC, id DESC);

  CREATE TABLE track_uploads (
    id uuid PRIMARY KEY,
    -- For the API only; no other table has it.
    workflow_id uuid NOT NULL UNIQUE,
    creator_id uuid NOT NULL,
    release_id uuid NOT NULL,
    track_id uuid NOT NULL,
    -- Often a signed URL, which is a secret: deleted when the upload has ended.
    upload_url text,
    status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    -- The number of runs, and of runs that failed for a reason that may pass.
    runs int NOT NULL DEFAULT 0,
    failed_runs int NOT NULL DEFAULT 0,
    -- When the next run is due; null during a run and after the upload has ended.
    due_at timestamptz,
    -- The lease of the process that runs it.
    lease_token uuid,
    lease_until timestamptz,
    audio jsonb,
    failure jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CHECK ((status IN ('pending', 'processing')) = (upload_url IS NOT NULL)),
    CHECK ((status = 'completed') = (audio IS NOT NULL)),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
    CHECK (num_nonnulls(due_at, lease_until) = CASE WHEN status IN ('pending', 'processing') THEN 1 ELSE 0 END)
  ) WITH (fillfactor = 80);
  -- A URL may be too long for an index. Two URLs with the same MD5 only affect the creator who made them.
  CREATE UNIQUE INDEX track_uploads_once ON track_uploads (release_id, track_id, md5(upload_url))
    WHERE status IN ('pending', 'processing');
  CREATE INDEX track_uploads_open ON track_uploads (creator_id) WHERE status IN ('pending', 'processing');
  CREATE INDEX track_uploads_of_release ON track_uploads (release_id, track_id);
  CREATE INDEX track_uploads_not_over ON track_uploads (id) WHERE status IN ('pending', 'processing');
  CREATE INDEX track_uploads_ended ON track_uploads (updated_at) WHERE status IN ('completed', 'failed');
`;

/** The schema before the first release (ADR 37). */
export class Baseline implements MigrationInterface {
  readonly name = 'Baseline1795392000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createRequestRoles);
    await runner.query(creators + countCreators + orders + ledger + releases);
    await runner.query(createMessagingTables + createIdempotencyKeys + createOperatorAudit);
    await runner.query(enableRowSecurity);
  }

  down(): Promise<void> {
    throw new Error('The baseline cannot be reverted. Drop the database instead.');
  }
}
