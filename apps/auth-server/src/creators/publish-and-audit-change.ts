import { messages, publicId } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { auditOperator } from '../audit/operator-audit.js';
import { creatorSnapshot } from '../creator-snapshots/creator-snapshot.js';
import { readPublished } from '../creator-snapshots/publish-creators.js';

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

/**
 * Publishes `creator.changed` and writes the audit record, in the transaction that changed the creator and
 * increased its `version`.
 */
export async function publishAndAuditChange(
  tx: Transaction,
  outbox: Outbox,
  creatorId: string,
  auditDetails: Readonly<Record<string, unknown>>,
): Promise<ChangedCreator> {
  const creator = creatorSnapshot(await readPublished(tx, creatorId));
  const message = messages.creatorChanged.make({ creator }, { occurredAt: new Date() });
  await outbox.add(tx, message);
  await auditOperator(tx, {
    event: 'creator_changed',
    details: { creator: creatorId, version: creator.version, ...auditDetails },
  });
  return {
    uuid: creatorId,
    id: publicId('crt', creatorId),
    name: creator.name,
    payment_method: creator.payment_method,
    payment_terms_accepted: creator.payment_terms_accepted,
    tax_interview_completed: creator.tax_interview_completed,
    settlement_currency: creator.settlement_currency,
    message_id: message.id,
  };
}
