import type { Database } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import type { PublishRevokedTokens } from '../revocation/deny-list.js';
import { deleteClientWithFamilies } from '../tokens/families.js';
import { lockClient } from './store-client.js';

/**
 * Deletes a client with its tokens, consents and registration. The published message also ends its webhooks.
 */
export async function deleteClient(
  database: Database,
  outbox: Outbox,
  publishRevoked: PublishRevokedTokens,
  clientId: string,
): Promise<{ client_id: string; deleted: true; tokens_ended: number }> {
  const revoked = await database.transaction(async (tx) => {
    if ((await tx.row(lockClient, [clientId])) === undefined)
      throw new Error(`The client ${clientId} does not exist.`);
    const tokens = await deleteClientWithFamilies(tx, outbox, clientId);
    await auditOperator(tx, {
      event: 'client_deleted',
      clientId,
      details: { tokens_ended: tokens.length },
    });
    return tokens;
  });
  await publishRevoked(revoked);
  return { client_id: clientId, deleted: true, tokens_ended: revoked.length };
}
