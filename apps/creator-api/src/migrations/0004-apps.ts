import { buildConcurrently, changeWithLockTimeout, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnOrSelectedRows } from './row-security.js';

const countsByApp = `
  CREATE TABLE IF NOT EXISTS order_counts_by_app (
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    placed_on date NOT NULL,
    payment_status text NOT NULL,
    dispatch_status text NOT NULL,
    orders bigint NOT NULL,
    PRIMARY KEY (creator_id, client_id, placed_on, payment_status, dispatch_status)
  );`;
// A table of its own: replicas of the earlier version write monthly_breakdown by its key, so the key cannot
// get another column.
const breakdownByApp = `
  CREATE TABLE IF NOT EXISTS monthly_app_breakdown (
    creator_id uuid NOT NULL,
    currency text NOT NULL,
    client_id text NOT NULL,
    period text NOT NULL,
    release_id uuid NOT NULL,
    product_type text NOT NULL,
    country_code text NOT NULL,
    platform text NOT NULL,
    units numeric NOT NULL,
    revenue numeric NOT NULL,
    royalties numeric NOT NULL,
    PRIMARY KEY (creator_id, currency, client_id, period, release_id, product_type, country_code, platform)
  );`;
const creatorApps = `
  -- Third-party apps. connected_at is null once an app is no longer connected; its name stays for its orders.
  CREATE TABLE IF NOT EXISTS creator_apps (
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    name text,
    connected_at timestamptz,
    PRIMARY KEY (creator_id, client_id)
  );`;
const creatorTables = {
  order_counts_by_app: countsByApp,
  monthly_app_breakdown: breakdownByApp,
  creator_apps: creatorApps,
};
// Apps of the suite's operator: every caller may read their names.
const firstPartyApps = `
  CREATE TABLE IF NOT EXISTS first_party_apps (client_id text PRIMARY KEY, name text);
  GRANT SELECT ON first_party_apps TO creator_api_member, creator_api_operator;`;

/** The apps that may act for a creator, and what each of them placed and earned. */
export class Apps implements MigrationInterface {
  readonly name = 'Apps1795564900000';
  // CREATE INDEX CONCURRENTLY cannot run in a transaction. A migration that failed half-way runs again, so
  // its steps are repeatable.
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, 'ALTER TABLE orders ADD COLUMN IF NOT EXISTS client_id text');
    await buildConcurrently(
      runner,
      'orders_of_app',
      'INDEX',
      'orders (creator_id, client_id, placed_at DESC, id DESC) WHERE client_id IS NOT NULL',
    );
    for (const [table, create] of Object.entries(creatorTables)) {
      const dropPolicies = `DROP POLICY IF EXISTS member ON ${table}; DROP POLICY IF EXISTS operator ON ${table};`;
      await changeWithLockTimeout(runner, create + dropPolicies + allowReadingOwnOrSelectedRows(table));
    }
    await changeWithLockTimeout(runner, firstPartyApps);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, 'DROP TABLE IF EXISTS first_party_apps');
    for (const table of Object.keys(creatorTables))
      await changeWithLockTimeout(runner, `DROP TABLE IF EXISTS ${table}`);
    await dropConcurrently(runner, 'orders_of_app');
    await changeWithLockTimeout(runner, 'ALTER TABLE orders DROP COLUMN IF EXISTS client_id');
  }
}
