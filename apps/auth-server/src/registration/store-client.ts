import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import type { SecretBox } from '@fulfilment/runtime';
import { type AdapterPayload, errors } from 'oidc-provider';
import { insertAudit, type Origin } from '../audit/audit-log.js';
import type { RevokedToken } from '../revocation/deny-list.js';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import { endAccessOfClient } from '../tokens/families.js';
import { identityDigest, identityOf, type IdentifiedClient } from './client-identity.rules.js';
import { openClientSecret, sealClient } from './client-secret.js';
import { isReservedName } from './reserved-names.rules.js';

/** Locks a client until the transaction ends, and reads its metadata as stored. */
export const lockClient = statement(
  'clients.lock',
  `SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`,
);
const listFirstPartyNames = statement(
  'clients.first-party-names',
  `SELECT payload ->> 'client_name' AS name FROM oidc_model WHERE model = 'Client' AND payload ->> 'first_party' = 'true'`,
);
// A client that registered itself and that no person ever authorized expires after 30 days.
const upsert = statement(
  'clients.upsert',
  `INSERT INTO oidc_model (model, id, payload, expires_at) VALUES ('Client', $1, $2, now() + interval '30 days')
   ON CONFLICT (model, id) DO UPDATE SET payload = EXCLUDED.payload`,
);
/** Bounds one statement: a client may be connected to any number of creators. */
const messagesPerStatement = 500;

interface StoredClient extends IdentifiedClient {
  readonly client_secret_sealed?: string;
}

/** A registration request (RFC 7591) or change request (RFC 7592) of a client. */
interface ClientRegistration {
  readonly id: string;
  /** Whether it is a change (RFC 7592), for which the client must exist. */
  readonly isChange: boolean;
  readonly metadata: AdapterPayload;
  readonly origin: Origin | undefined;
}

/**
 * Stores a client that registered itself (RFC 7591) or changed itself (RFC 7592). A consent is for the
 * identity that was shown: when the name, a redirect host or the application type changes, the client's
 * consents, tokens and webhook subscriptions end in the same commit. Returns the access tokens to publish as
 * revoked.
 * @throws errors.InvalidClientMetadata when the name is reserved
 * @throws errors.InvalidToken when the client was deleted after its request was authenticated
 * @throws errors.InvalidRequest (409) when its secret was replaced during the request
 */
export async function storeClient(
  tx: Transaction,
  outbox: Outbox,
  secrets: SecretBox,
  { id, isChange, metadata, origin }: ClientRegistration,
): Promise<RevokedToken[]> {
  const row = await tx.row<{ payload: StoredClient }>(lockClient, [id]);
  if (isChange && row === undefined) throw new errors.InvalidToken('client deleted');
  const sealed = row?.payload.client_secret_sealed;
  const { client_secret: secret } = metadata;
  if (sealed !== undefined && secret !== undefined && openClientSecret(secrets, id, sealed) !== secret)
    throw new errors.InvalidRequest(
      'the client secret was changed during the request; read the client and retry',
      409,
    );
  const before = row === undefined ? undefined : identityOf(row.payload);
  const after = identityOf(metadata);
  if (after.name !== null && after.name !== before?.name) await requireFreeName(tx, after.name);
  await tx.run(upsert, [id, sealClient(secrets, id, metadata)]);
  if (before === undefined) return [];
  const isSame = identityDigest(before) === identityDigest(after);
  const revoked = isSame ? [] : await disconnectAll(tx, outbox, id);
  const details = isSame ? {} : { before, after, tokens_ended: revoked.length };
  await insertAudit(tx, { event: 'client_changed', clientId: id, details }, origin);
  return revoked;
}

async function requireFreeName(tx: Transaction, name: string): Promise<void> {
  const firstPartyClients = await tx.rows<{ name: string | null }>(listFirstPartyNames);
  const names = firstPartyClients.flatMap((client) => client.name ?? []);
  if (isReservedName(name, names)) throw new errors.InvalidClientMetadata('client_name is reserved');
}

/**
 * Ends consents and token families, and publishes `client.disconnected` for each creator, which also ends
 * webhook subscriptions.
 */
async function disconnectAll(tx: Transaction, outbox: Outbox, clientId: string): Promise<RevokedToken[]> {
  const { creatorIds, revoked } = await endAccessOfClient(tx, clientId);
  const occurredAt = new Date(); // the families are locked, so all tokens were issued earlier
  for (let from = 0; from < creatorIds.length; from += messagesPerStatement) {
    const batch = creatorIds.slice(from, from + messagesPerStatement);
    await outbox.add(
      tx,
      ...batch.map((creatorId) =>
        messages.clientDisconnected.make({ client_id: clientId, creator_id: creatorId }, { occurredAt }),
      ),
    );
  }
  await publishCreators(tx, outbox, creatorIds);
  return revoked;
}
