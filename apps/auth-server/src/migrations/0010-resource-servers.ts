import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Marks the resource servers that an operator made before there was a mark: confidential, without a redirect address. A client that
 * registered itself without one expires, because nobody can authorize it.
 */
export class ResourceServers implements MigrationInterface {
  readonly name = 'ResourceServers1767225610000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE oidc_model SET payload = payload || '{"resource_server": true}'
      WHERE model = 'Client' AND expires_at IS NULL AND payload -> 'redirect_uris' = '[]'
        AND payload ? 'client_secret_sealed'
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE oidc_model SET payload = payload - 'resource_server' WHERE model = 'Client'`);
  }
}
