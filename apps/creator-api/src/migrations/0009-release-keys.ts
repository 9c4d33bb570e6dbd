import { ask, changeBriefly } from '@fulfilment/database';
import { createIdempotencyKeys } from '@fulfilment/http-service';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { showRowsOfOwnCreators } from './row-security.js';

const exists = "SELECT to_regclass('idempotency_keys') IS NOT NULL AS answer";
// A request may claim a key for a creator it sees.
const grants = 'GRANT INSERT, UPDATE ON idempotency_keys TO creator_api_member, creator_api_operator';

/** The keys of requests that created a release, with their responses. */
export class ReleaseKeys1764000000009 implements MigrationInterface {
  readonly name = 'ReleaseKeys1764000000009';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    if (await ask(runner, exists)) return; // policies cannot be created twice
    await changeBriefly(
      runner,
      `${createIdempotencyKeys}${showRowsOfOwnCreators('idempotency_keys')}${grants}`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'DROP TABLE IF EXISTS idempotency_keys');
  }
}
