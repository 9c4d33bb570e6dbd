import { publicId } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import type { PublishedRow } from '../creator-snapshots/creator-snapshot.js';
import { creatorNotFoundError, requireCreatorId } from './parse-creator-id.js';
import { publishAndAuditChange } from './publish-and-audit-change.js';

interface RedactedCreator {
  readonly uuid: string;
  /** Public `crt_` id of the Store API. */
  readonly id: string;
  readonly redacted: true;
  /** Null when the creator was already redacted, so nothing was published. */
  readonly message_id: string | null;
}

const lock = statement('creators.lock', 'SELECT name, payment_method FROM creators WHERE id = $1 FOR UPDATE');
const redact = statement(
  'creators.redact',
  'UPDATE creators SET version = version + 1, name = NULL, payment_method = NULL WHERE id = $1',
);

/**
 * Redacts a creator's name and payment method, and publishes the change in the same commit. Orders, royalties
 * and the row with its id and `registered_at` stay. Idempotent.
 * @param creator UUID or `crt_` id
 */
export async function redactCreator(
  database: Database,
  outbox: Outbox,
  creator: string,
): Promise<RedactedCreator> {
  const uuid = requireCreatorId(creator);
  const id = publicId('crt', uuid);
  return database.transaction(async (tx) => {
    const before = await tx.row<Pick<PublishedRow, 'name' | 'payment_method'>>(lock, [uuid]);
    if (before === undefined) throw creatorNotFoundError(creator);
    if (before.name === null && before.payment_method === null)
      return { uuid, id, redacted: true, message_id: null };
    await tx.run(redact, [uuid]);
    const auditDetails = { changed: ['name', 'paymentMethod'], redacted: true };
    const { message_id } = await publishAndAuditChange(tx, outbox, uuid, auditDetails);
    return { uuid, id, redacted: true, message_id };
  });
}
