import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import type { TellRevoked } from '../revocation/deny-list.js';
import { endClient } from '../tokens/families.js';

const find = statement(
  'clients.find',
  `SELECT 1 FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`,
);

/** Takes a client away with all it was given: its tokens, its consents, its registration; its webhooks end, too. */
export async function deleteClient(
  database: Database,
  outbox: Outbox,
  tell: TellRevoked,
  clientId: string,
): Promise<{ client_id: string; deleted: true; tokens_ended: number }> {
  const revoked = await database.transaction(async (tx) => {
    if ((await tx.row(find, [clientId])) === undefined) throw new Error(`There is no client ${clientId}.`);
    const revoked = await endClient(tx, outbox, clientId);
    await auditOperator(tx, {
      event: 'client_deleted',
      clientId,
      details: { tokens_ended: revoked.length },
    });
    return revoked;
  });
  await tell(revoked);
  return { client_id: clientId, deleted: true, tokens_ended: revoked.length };
}
