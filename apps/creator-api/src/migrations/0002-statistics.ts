import type { MigrationInterface, QueryRunner } from 'typeorm';
import { showRowsOfOwnCreators } from './row-security.js';

const ledger = `
  -- Append-only: what was earned and given back, line by line, in the order's currency and as settled.
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
    -- The rates of the conversion, null when none was needed.
    rate_date date,
    rate_from numeric,
    rate_to numeric,
    booked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (item_id, kind)
  );
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
`;

const settlement = `
  -- What one euro is in a currency on a day (ECB reference rates); the euro itself is 1.
  CREATE TABLE exchange_rates (
    rate_date date NOT NULL,
    currency text NOT NULL,
    per_euro numeric NOT NULL CHECK (per_euro > 0),
    PRIMARY KEY (currency, rate_date)
  );

  -- Paid orders that the ledger cannot take yet: their creator or an exchange rate is not known.
  CREATE TABLE waiting_bookings (
    order_id uuid PRIMARY KEY REFERENCES orders ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT now()
  );
`;

export class Statistics1763600000002 implements MigrationInterface {
  readonly name = 'Statistics1763600000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ledger);
    await runner.query(settlement);
    await runner.query(showRowsOfOwnCreators('monthly_statistics'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE waiting_bookings, exchange_rates, monthly_statistics, ledger');
    await runner.query('DROP FUNCTION refuse_ledger_change()');
  }
}
