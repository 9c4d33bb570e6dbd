import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { z } from 'zod';
import { creatorOptions } from './creator-options.js';
import { creatorNotFoundError, requireCreatorId } from './parse-creator-id.js';
import { type ChangedCreator, publishAndAuditChange } from './publish-and-audit-change.js';

/** Operand and options of `creator change`; an omitted option leaves its value unchanged. */
export const changeCreatorOptions = z
  .object(creatorOptions)
  .omit({ test: true })
  .partial()
  .extend({ CREATOR: z.string('is missing').min(1, 'must not be empty') })
  .refine(
    ({ CREATOR: _creator, ...changes }) => Object.values(changes).some((value) => value !== undefined),
    {
      message: 'has no changes; give at least one option',
      path: ['CREATOR'],
    },
  )
  .transform((options) => ({
    creator: options.CREATOR,
    name: options.name,
    paymentMethod: options['payment-method'],
    paymentTermsAccepted: options['payment-terms'],
    taxInterviewCompleted: options['tax-interview'],
    settlementCurrency: options['settlement-currency'],
  }));
type CreatorChange = Partial<z.output<typeof changeCreatorOptions>> & { readonly creator: string };

const updateCreator = statement(
  'creators.change',
  `UPDATE creators SET version = version + 1,
     name = coalesce(:name, name),
     payment_method = CASE WHEN :changesPaymentMethod THEN :paymentMethod ELSE payment_method END,
     payment_terms_accepted = coalesce(:paymentTermsAccepted, payment_terms_accepted),
     tax_interview_completed = coalesce(:taxInterviewCompleted, tax_interview_completed),
     settlement_currency = coalesce(:settlementCurrency, settlement_currency)
   WHERE id = :id`,
);

/**
 * Changes a creator's registration and publishes the change in the same commit.
 * @param change names the creator by its UUID or `crt_` id
 */
export async function changeCreator(
  database: Database,
  outbox: Outbox,
  { creator, ...changes }: CreatorChange,
): Promise<ChangedCreator> {
  const uuid = requireCreatorId(creator);
  return database.transaction(async (tx) => {
    const updated = await tx.run(updateCreator, {
      id: uuid,
      name: changes.name,
      changesPaymentMethod: changes.paymentMethod !== undefined, // null removes the payment method
      paymentMethod: changes.paymentMethod,
      paymentTermsAccepted: changes.paymentTermsAccepted,
      taxInterviewCompleted: changes.taxInterviewCompleted,
      settlementCurrency: changes.settlementCurrency,
    });
    if (updated === 0) throw creatorNotFoundError(creator);
    const changed = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    return publishAndAuditChange(tx, outbox, uuid, { changed });
  });
}
