import { buildConcurrently, changeBriefly, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clients that the operator made are verified; those that registered themselves have a registration token. The index holds first-party clients, whose names are reserved. */
export class VerifiedClients implements MigrationInterface {
  readonly name = 'VerifiedClients1767225611000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      `UPDATE oidc_model AS client SET payload = payload || '{"verified": true}'
       WHERE model = 'Client' AND NOT payload ? 'verified' AND NOT EXISTS (
         SELECT FROM oidc_model AS token WHERE token.model = 'RegistrationAccessToken' AND token.client_id = client.id)`,
    );
    await buildConcurrently(
      runner,
      'oidc_model_first_party',
      'INDEX',
      `oidc_model (id) WHERE model = 'Client' AND payload ->> 'first_party' = 'true'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'oidc_model_first_party');
    await runner.query(`UPDATE oidc_model SET payload = payload - 'verified' WHERE model = 'Client'`);
  }
}
