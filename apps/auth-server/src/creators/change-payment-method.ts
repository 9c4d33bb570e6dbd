import { isUuid, messages, parsePublicId, type SandboxPaymentMethod } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { creatorColumns, type CreatorRow, creatorSnapshot } from './creator-snapshot.js';

const change = statement(
  'creators.payment-method',
  `UPDATE creators SET payment_method = $2, version = version + 1 WHERE id = $1 RETURNING ${creatorColumns}`,
);

/** Gives a creator another payment method and tells everybody, in one commit. @param creator its UUID or `crt_` id */
export async function changePaymentMethod(
  database: Database,
  outbox: Outbox,
  creator: string,
  paymentMethod: SandboxPaymentMethod,
): Promise<{ uuid: string; payment_method: string | null; message_id: string }> {
  const uuid = isUuid(creator.toLowerCase()) ? creator.toLowerCase() : parsePublicId('crt', creator);
  return database.transaction(async (tx) => {
    const row =
      uuid === undefined
        ? undefined
        : await tx.row<CreatorRow & Record<string, unknown>>(change, [uuid, paymentMethod]);
    if (row === undefined) throw new Error(`There is no creator ${creator}.`);
    const message = messages.creatorChanged.make(
      { creator: creatorSnapshot(row) },
      { occurredAt: new Date() },
    );
    await outbox.add(tx, message);
    return { uuid: row.id, payment_method: row.payment_method, message_id: message.id };
  });
}
