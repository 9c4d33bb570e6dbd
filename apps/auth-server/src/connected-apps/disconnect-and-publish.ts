import { messages } from '@fulfilment/contracts';
import { pipelined, statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import { validConsentSql } from '../creator-snapshots/valid-consent.sql.js';

/** Selects connections of a person: all, those of one app, or those to the creators of one organisation. */
interface Connections {
  readonly userId: string;
  readonly clientId?: string;
  readonly organisationId?: string;
}

// Serialises the disconnections and new consents of one person, so that no consent is added after
// `lockClients` has read them.
const lockUser = statement('connected-apps.lock-user', 'SELECT FROM users WHERE id = $1 FOR UPDATE');
// Locks the clients before consents and tokens, as a new consent and the deletion of a client do. Serialises
// the disconnections of one app by several people, so that the second sees the result of the first.
const lockClients = statement(
  'connected-apps.lock-clients',
  `SELECT id FROM oidc_model WHERE model = 'Client' AND id IN (
     SELECT client_id FROM consents WHERE user_id = $1 AND ($2::text IS NULL OR client_id = $2))
   ORDER BY id FOR NO KEY UPDATE`,
);
// A first-party client needs no consent, so its consents are not connections.
const findLastConsents = statement(
  'connected-apps.last',
  `SELECT client_id, creator_id FROM consents AS mine
   WHERE user_id = $1 AND client_id = ANY ($2) AND ${validConsentSql('mine')}
     AND ($3::text IS NULL OR creator_id IN (SELECT id FROM creators WHERE organisation_id = $3))
     AND NOT EXISTS (
       SELECT 1 FROM oidc_model WHERE model = 'Client' AND id = mine.client_id AND payload ->> 'first_party' = 'true')
     AND NOT EXISTS (
       SELECT 1 FROM consents AS other
       WHERE other.client_id = mine.client_id AND other.creator_id = mine.creator_id
         AND other.user_id <> mine.user_id AND ${validConsentSql('other')})
   ORDER BY client_id, creator_id`,
);

/**
 * Runs `disconnect`, which ends connections of a person. In the same commit it publishes
 * `client.disconnected` and `creator.changed` for each app and creator without a consent of another person. A
 * new password or revoked tokens do not end a connection: the app gets new tokens without a consent page.
 */
export async function disconnectAndPublish<Result>(
  tx: Transaction,
  outbox: Outbox,
  { userId, clientId, organisationId }: Connections,
  disconnect: () => Promise<Result>,
): Promise<Result> {
  const [, clients] = await pipelined([
    tx.run(lockUser, [userId]),
    tx.rows<{ id: string }>(lockClients, [userId, clientId]),
  ]);
  const lastConsents = await tx.rows<{ client_id: string; creator_id: string }>(findLastConsents, [
    userId,
    clients.map(({ id }) => id),
    organisationId,
  ]);
  const result = await disconnect();
  // Taken after `disconnect`: all tokens that it ended were issued earlier, and all tokens of a later consent
  // are issued later.
  const occurredAt = new Date();
  await outbox.add(
    tx,
    ...lastConsents.map((connection) => messages.clientDisconnected.make(connection, { occurredAt })),
  );
  await publishCreators(
    tx,
    outbox,
    lastConsents.map(({ creator_id }) => creator_id),
  );
  return result;
}
