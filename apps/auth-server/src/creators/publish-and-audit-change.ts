import { messages, publicId } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import { type CreatorRow, creatorSnapshot } from '../creator-snapshots/creator-snapshot.js';
import { readPublished } from '../creator-snapshots/publish-creators.js';
import { creatorNotFoundError } from './parse-creator-id.js';

export interface ChangedCreator {
  readonly uuid: string;
  /** Public `crt_` id of the Store API. */
  readonly id: string;
  readonly name: string | null;
  readonly payment_method: string | null;
  readonly payment_terms_accepted: boolean;
  readonly tax_interview_completed: boolean;
  readonly settlement_currency: string;
  /** Id of the `creator.changed` message; consumers record it in their inbox. */
  readonly message_id: string;
}

/** Publishes `creator.changed` and writes the audit record, in the transaction that changed the row. */
export async function publishAndAuditChange(
  tx: Transaction,
  outbox: Outbox,
  {
    row,
    auditDetails,
  }: { readonly row: CreatorRow; readonly auditDetails: Readonly<Record<string, unknown>> },
): Promise<ChangedCreator> {
  const published = await readPublished(tx, row.id);
  if (published === undefined) throw creatorNotFoundError(row.id);
  const creator = creatorSnapshot(published);
  const message = messages.creatorChanged.make({ creator }, { occurredAt: new Date() });
  await outbox.add(tx, message);
  await auditOperator(tx, {
    event: 'creator_changed',
    details: { creator: row.id, version: row.version, ...auditDetails },
  });
  return {
    uuid: row.id,
    id: publicId('crt', row.id),
    name: row.name,
    payment_method: row.payment_method,
    payment_terms_accepted: row.payment_terms_accepted,
    tax_interview_completed: row.tax_interview_completed,
    settlement_currency: row.settlement_currency,
    message_id: message.id,
  };
}
