import { ask, buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const searchHasCreator = `
  SELECT pg_get_indexdef(to_regclass('releases_search')) LIKE '%creator_id%' AS answer`;
const replaceSearch = `
  DROP INDEX IF EXISTS releases_search;
  ALTER INDEX releases_search_of_creator RENAME TO releases_search`;
const ordersByTwo = [
  {
    name: 'orders_by_status_and_platform',
    columns: 'creator_id, status, platform, created_at DESC, id DESC',
  },
  { name: 'orders_by_status_and_store', columns: 'creator_id, status, store_id, created_at DESC, id DESC' },
  {
    name: 'orders_by_platform_and_store',
    columns: 'creator_id, platform, store_id, created_at DESC, id DESC',
  },
];

/**
 * A search costs what the creator has, not what everybody has: the creator stands in the index, beside the trigrams. Orders by two filters
 * have an index too: rows that only one of them takes are not walked.
 */
export class ListsAndSearch1764000000004 implements MigrationInterface {
  name = 'ListsAndSearch1764000000004';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE EXTENSION IF NOT EXISTS btree_gin');
    if (!(await ask(runner, searchHasCreator))) {
      await buildConcurrently(
        runner,
        'releases_search_of_creator',
        'INDEX',
        'releases USING gin (creator_id, search_text gin_trgm_ops)',
      );
      await changeBriefly(runner, replaceSearch);
    }
    for (const { name, columns } of ordersByTwo)
      await buildConcurrently(runner, name, 'INDEX', `orders (${columns})`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX orders_by_status_and_platform, orders_by_status_and_store, orders_by_platform_and_store;
      DROP INDEX releases_search;
      CREATE INDEX releases_search ON releases USING gin (search_text gin_trgm_ops);
      DROP EXTENSION btree_gin;
    `);
  }
}
