import type { MigrationInterface, QueryRunner } from 'typeorm';
import { showRowsOfOwnCreators } from './row-security.js';

const editions = `
  CREATE TABLE editions (
    id uuid PRIMARY KEY,
    creator_id uuid NOT NULL REFERENCES creators,
    title text NOT NULL,
    release_type_id int NOT NULL CHECK (release_type_id BETWEEN 1 AND 8),
    ean text,
    created_at timestamptz NOT NULL
  );
  CREATE INDEX editions_newest ON editions (creator_id, created_at DESC, id DESC);
`;

// A request may write an edition of a creator it sees, and the message that tells of it.
const grants = `
  GRANT INSERT ON editions, outbox TO creator_api_member, creator_api_operator;
`;

export class Editions1763600000003 implements MigrationInterface {
  readonly name = 'Editions1763600000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(editions);
    await runner.query(showRowsOfOwnCreators('editions'));
    await runner.query(grants);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE editions');
    await runner.query('REVOKE INSERT ON outbox FROM creator_api_member, creator_api_operator');
  }
}
