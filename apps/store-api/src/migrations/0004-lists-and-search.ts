import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A search costs what the creator has, not what everybody has: the creator stands in the index, beside the trigrams. Orders by two filters
 * have an index too: rows that only one of them takes are not walked.
 */
export class ListsAndSearch1764000000004 implements MigrationInterface {
  name = 'ListsAndSearch1764000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE EXTENSION IF NOT EXISTS btree_gin;
      DROP INDEX releases_search;
      CREATE INDEX releases_search ON releases USING gin (creator_id, search_text gin_trgm_ops);

      CREATE INDEX orders_by_status_and_platform ON orders (creator_id, status, platform, created_at DESC, id DESC);
      CREATE INDEX orders_by_status_and_store ON orders (creator_id, status, store_id, created_at DESC, id DESC);
      CREATE INDEX orders_by_platform_and_store ON orders (creator_id, platform, store_id, created_at DESC, id DESC);
    `);
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
