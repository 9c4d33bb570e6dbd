import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// What an order waits for follows from these three: its creator, or the rates of its currency on the day of its payment. Null in rows
// that an older replica wrote; the loop fills them in.
const columns = `
  ALTER TABLE waiting_bookings ADD COLUMN IF NOT EXISTS creator_id uuid, ADD COLUMN IF NOT EXISTS currency text,
    ADD COLUMN IF NOT EXISTS paid_on date`;

// When the rates are fetched next; one replica at a time claims it.
const rateSource = `
  CREATE TABLE IF NOT EXISTS exchange_rate_source (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    next_fetch_at timestamptz NOT NULL
  );
  INSERT INTO exchange_rate_source (next_fetch_at) VALUES ('-infinity') ON CONFLICT DO NOTHING`;

export class WaitingGroups1764000000006 implements MigrationInterface {
  readonly name = 'WaitingGroups1764000000006';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, columns);
    await buildConcurrently(
      runner,
      'waiting_bookings_groups',
      'INDEX',
      'waiting_bookings (creator_id, currency, paid_on, order_id)',
    );
    await buildConcurrently(
      runner,
      'waiting_bookings_ungrouped',
      'INDEX',
      'waiting_bookings (order_id) WHERE creator_id IS NULL',
    );
    await buildConcurrently(runner, 'waiting_bookings_oldest', 'INDEX', 'waiting_bookings (since)');
    await changeBriefly(runner, rateSource);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'DROP TABLE exchange_rate_source');
    await changeBriefly(
      runner,
      `DROP INDEX waiting_bookings_oldest;
       ALTER TABLE waiting_bookings DROP COLUMN creator_id, DROP COLUMN currency, DROP COLUMN paid_on`,
    );
  }
}
