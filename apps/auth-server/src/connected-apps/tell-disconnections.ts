import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';

/** Which of a person's connections may end: all, those to one app, or those to the creators of one organisation. */
export interface Connections {
  readonly userId: string;
  readonly clientId?: string;
  readonly organisationId?: string;
}

// Before anything else that the transaction locks of a client, as its deletion does. Of two people who disconnect the same app at once
// the second then sees that the first has.
const takeTurns = statement(
  'connected-apps.take-turns',
  `SELECT id FROM oidc_model WHERE model = 'Client' AND id IN (
     SELECT client_id FROM consents WHERE user_id = $1 AND ($2::text IS NULL OR client_id = $2))
   ORDER BY id FOR NO KEY UPDATE`,
);
/** A consent counts while its person may act for the creator. First-party clients need none, so that of theirs says nothing. */
const counts = (consent: string): string =>
  `EXISTS (SELECT 1 FROM users JOIN memberships ON memberships.user_id = users.id
     JOIN creators USING (organisation_id)
     WHERE users.id = ${consent}.user_id AND users.disabled_at IS NULL AND creators.id = ${consent}.creator_id)`;
const findLast = statement(
  'connected-apps.last',
  `SELECT client_id, creator_id FROM consents AS mine
   WHERE user_id = $1 AND client_id = ANY ($2) AND ${counts('mine')}
     AND ($3::text IS NULL OR creator_id IN (SELECT id FROM creators WHERE organisation_id = $3))
     AND NOT EXISTS (
       SELECT 1 FROM oidc_model WHERE model = 'Client' AND id = mine.client_id AND payload ->> 'first_party' = 'true')
     AND NOT EXISTS (
       SELECT 1 FROM consents AS other
       WHERE other.client_id = mine.client_id AND other.creator_id = mine.creator_id
         AND other.user_id <> mine.user_id AND ${counts('other')})
   ORDER BY client_id, creator_id`,
);

/**
 * Does what ends connections of a person to apps, and tells of each creator that an app is no longer connected to through anybody, in the
 * same commit. A new password or tokens that ended leave the connection as it is: the app comes back without a question.
 */
export async function tellingDisconnections<Result>(
  tx: Transaction,
  outbox: Outbox,
  { userId, clientId, organisationId }: Connections,
  end: () => Promise<Result>,
): Promise<Result> {
  const clients = await tx.rows<{ id: string }>(takeTurns, [userId, clientId]);
  const ids = clients.map(({ id }) => id);
  const last = await tx.rows<{ client_id: string; creator_id: string }>(findLast, [
    userId,
    ids,
    organisationId,
  ]);
  const result = await end();
  // The moment after it: no token that ended here was issued later, and none that is given anew was issued before.
  const occurredAt = new Date();
  await outbox.add(tx, ...last.map((one) => messages.clientDisconnected.make(one, { occurredAt })));
  return result;
}
