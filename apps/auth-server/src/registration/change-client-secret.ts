import { type Database, statement } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';
import { randomBytes } from 'node:crypto';
import type { AdapterPayload } from 'oidc-provider';
import { auditOperator } from '../audit/operator-audit.js';
import { sealClient } from './client-secret.js';
import { lockClient } from './store-client.js';

const update = statement(
  'clients.update',
  `UPDATE oidc_model SET payload = $2 WHERE model = 'Client' AND id = $1`,
);
const secretBytes = 32;

/**
 * Replaces the secret of a confidential client. Returns the new one, which cannot be read later. The client's
 * tokens stay valid.
 */
export async function changeClientSecret(
  database: Database,
  clientId: string,
  secrets: SecretBox,
): Promise<{ client_id: string; client_secret: string }> {
  const secret = randomBytes(secretBytes).toString('base64url');
  await database.transaction(async (tx) => {
    const stored = await tx.row<{ payload: AdapterPayload }>(lockClient, [clientId]);
    if (stored === undefined) throw new Error(`The client ${clientId} does not exist.`);
    const { client_secret_sealed: before, ...metadata } = stored.payload;
    if (before === undefined) throw new Error(`The client ${clientId} is public and has no secret.`);
    await tx.run(update, [clientId, sealClient(secrets, clientId, { ...metadata, client_secret: secret })]);
    await auditOperator(tx, { event: 'client_secret_changed', clientId });
  });
  return { client_id: clientId, client_secret: secret };
}
