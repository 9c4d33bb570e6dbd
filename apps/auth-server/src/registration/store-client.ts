import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { errors } from 'oidc-provider';
import { insertAudit, type Origin } from '../audit/audit-log.js';
import type { RevokedToken } from '../revocation/deny-list.js';
import { endFamiliesOfClient } from '../tokens/families.js';
import { identityDigest, identityOf, type IdentifiedClient } from './client-identity.rules.js';
import { isReservedName } from './reserved-names.rules.js';

const lock = statement(
  'clients.lock-identity',
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`,
);
const firstPartyNames = statement(
  'clients.first-party-names',
  `SELECT payload ->> 'client_name' AS name FROM oidc_model WHERE model = 'Client' AND payload ->> 'first_party' = 'true'`,
);
// A client that registered itself and that nobody ever authorized expires after 30 days.
const upsert = statement(
  'clients.upsert',
  `INSERT INTO oidc_model (model, id, payload, expires_at) VALUES ('Client', $1, $2, now() + interval '30 days')
   ON CONFLICT (model, id) DO UPDATE SET payload = EXCLUDED.payload`,
);
const deleteConsents = statement(
  'clients.delete-consents',
  'DELETE FROM consents WHERE client_id = $1 RETURNING creator_id',
);
const messagesAtOnce = 500;

/** A client as it registered or changed itself. */
export interface RegisteredClient {
  readonly id: string;
  /** RFC 7592: the client must exist. */
  readonly isChange: boolean;
  readonly metadata: IdentifiedClient;
  /** The metadata as stored: JSON, its secret encrypted. */
  readonly stored: string;
  readonly origin: Origin | undefined;
}

/**
 * Stores a client that registered itself (RFC 7591) or changed (RFC 7592). People allowed what they were shown: when the name, a redirect
 * host or the application type changes, consents, tokens and webhook subscriptions of the client end, in the same commit. Returns the
 * access tokens to deny after it.
 * @throws errors.InvalidClientMetadata when the name is one of ours
 * @throws errors.InvalidToken when a client changes itself that was deleted after its request was authenticated
 */
export async function storeClient(
  tx: Transaction,
  outbox: Outbox,
  { id, isChange, metadata, stored, origin }: RegisteredClient,
): Promise<RevokedToken[]> {
  const found = await tx.row<{ payload: IdentifiedClient }>(lock, [id]);
  if (isChange && found === undefined) throw new errors.InvalidToken('client deleted');
  const before = found === undefined ? undefined : identityOf(found.payload);
  const after = identityOf(metadata);
  if (after.name !== null && after.name !== before?.name) await requireFreeName(tx, after.name);
  await tx.run(upsert, [id, stored]);
  if (before === undefined) return [];
  const isSame = identityDigest(before) === identityDigest(after);
  const revoked = isSame ? [] : await endAccess(tx, outbox, id);
  const details = isSame ? {} : { before, after, tokens_ended: revoked.length };
  await insertAudit(tx, { event: 'client_changed', clientId: id, details }, origin);
  return revoked;
}

async function requireFreeName(tx: Transaction, name: string): Promise<void> {
  const taken = await tx.rows<{ name: string | null }>(firstPartyNames);
  if (
    isReservedName(
      name,
      taken.flatMap((client) => client.name ?? []),
    )
  )
    throw new errors.InvalidClientMetadata('client_name is reserved');
}

/** Consents before families, as when a client is deleted. Webhook subscriptions end by the same message as when people disconnect the app. */
async function endAccess(tx: Transaction, outbox: Outbox, clientId: string): Promise<RevokedToken[]> {
  const consents = await tx.rows<{ creator_id: string | null }>(deleteConsents, [clientId]);
  const revoked = await endFamiliesOfClient(tx, clientId);
  const creators = [...new Set(consents.flatMap(({ creator_id }) => creator_id ?? []))];
  const occurredAt = new Date(); // with its families locked: no token was issued later
  for (let from = 0; from < creators.length; from += messagesAtOnce) {
    const some = creators.slice(from, from + messagesAtOnce);
    await outbox.add(
      tx,
      ...some.map((creatorId) =>
        messages.clientDisconnected.make({ client_id: clientId, creator_id: creatorId }, { occurredAt }),
      ),
    );
  }
  return revoked;
}
