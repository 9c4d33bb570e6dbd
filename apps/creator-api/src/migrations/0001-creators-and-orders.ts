import { createMessagingTables, dropMessagingTables } from '@fulfilment/messaging';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createCallerRoles, showOwnCreators, showRowsOfOwnCreators } from './row-security.js';

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
`;

// No foreign key to creators: an order may arrive before its creator does.
const orders = `
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
    -- When money moved, as the ledger has it or will have it; null while it has not.
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

  -- How many orders each filter finds, kept with the orders: an exact total costs a few rows, not all of them.
  CREATE TABLE order_counts (
    creator_id uuid NOT NULL,
    placed_on date NOT NULL,
    payment_status text NOT NULL,
    dispatch_status text NOT NULL,
    orders bigint NOT NULL,
    PRIMARY KEY (creator_id, placed_on, payment_status, dispatch_status)
  );
`;

export class CreatorsAndOrders1763600000001 implements MigrationInterface {
  readonly name = 'CreatorsAndOrders1763600000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(createMessagingTables);
    await runner.query(createCallerRoles);
    await runner.query(creators);
    await runner.query(orders);
    await runner.query(showOwnCreators);
    for (const table of ['orders', 'order_items', 'order_counts']) {
      await runner.query(showRowsOfOwnCreators(table));
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE order_counts, order_items, orders, creators');
    await runner.query(dropMessagingTables);
  }
}
