import { type Currency, messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { z } from 'zod';
import { requireOrganisation } from '../accounts/require-organisation.js';
import { auditOperator } from '../audit/operator-audit.js';
import { creatorOptions } from './creator-options.js';
import { creatorColumns, creatorSnapshot, type PublishedRow } from '../creator-snapshots/creator-snapshot.js';
import { readPublished } from '../creator-snapshots/publish-creators.js';

export interface NewCreator {
  readonly organisationId: string;
  readonly name: string;
  readonly paymentMethod: string | null;
  readonly settlementCurrency: Currency;
  /** Default: true. */
  readonly paymentTermsAccepted?: boolean | undefined;
  /** Default: true. */
  readonly taxInterviewCompleted?: boolean | undefined;
  /** A test creator (docs/adr/0066). Default: false. */
  readonly test?: boolean | undefined;
  /** UUID. Default: a new one. */
  readonly id?: string | undefined;
}

/** Options of `creator create`, the command that registers a creator. */
export const createCreatorOptions = z
  .object({
    ...creatorOptions,
    organisation: z.string('is missing').min(1, 'must not be empty'),
    'payment-terms': creatorOptions['payment-terms'].optional(),
    'tax-interview': creatorOptions['tax-interview'].optional(),
    'settlement-currency': creatorOptions['settlement-currency'].default('GBP'),
    test: creatorOptions.test.default(false),
    id: z.uuid('must be a UUID').toLowerCase().optional(),
  })
  .transform((options): NewCreator => ({
    organisationId: options.organisation,
    name: options.name,
    paymentMethod: options['payment-method'],
    settlementCurrency: options['settlement-currency'],
    paymentTermsAccepted: options['payment-terms'],
    taxInterviewCompleted: options['tax-interview'],
    test: options.test,
    id: options.id,
  }));

export interface RegisteredCreator {
  readonly uuid: string;
  /** Public `crt_` id of the Store API. */
  readonly id: string;
  readonly name: string | null;
  /** Id of the `creator.registered` message; consumers record it in their inbox. */
  readonly message_id: string;
}

const insert = statement(
  'creators.insert',
  `INSERT INTO creators (${creatorColumns}) VALUES (:id, :organisation_id, :name, :payment_method, :payment_terms_accepted,
     :tax_interview_completed, :settlement_currency, :test, 1, now())
   ON CONFLICT (id) DO NOTHING`,
);

/**
 * Registers a creator and publishes `creator.registered` in the same commit. An existing creator with the
 * given id stays unchanged and is published once more, for a service that missed the first message. Consumers
 * ignore a version that they have.
 */
export async function registerCreator(
  database: Database,
  outbox: Outbox,
  creator: NewCreator,
): Promise<RegisteredCreator> {
  return database.transaction(async (tx) => {
    await requireOrganisation(tx, creator.organisationId);
    const row = await insertOrFind(tx, creator);
    if (row.organisation_id !== creator.organisationId)
      throw new Error('A creator of another organisation already has this id.');
    if (row.test !== (creator.test ?? false))
      throw new Error(`The creator with this id is a ${row.test ? 'test' : 'live'} creator.`);
    const message = messages.creatorRegistered.make(
      { creator: creatorSnapshot(row) },
      { occurredAt: new Date() },
    );
    await outbox.add(tx, message);
    return { uuid: row.id, id: publicId('crt', row.id), name: row.name, message_id: message.id };
  });
}

async function insertOrFind(tx: Transaction, creator: NewCreator): Promise<PublishedRow> {
  const id = creator.id ?? uuidv7();
  const inserted = await tx.run(insert, {
    id,
    organisation_id: creator.organisationId,
    name: creator.name,
    payment_method: creator.paymentMethod,
    payment_terms_accepted: creator.paymentTermsAccepted ?? true,
    tax_interview_completed: creator.taxInterviewCompleted ?? true,
    settlement_currency: creator.settlementCurrency,
    test: creator.test ?? false,
  });
  const details = { creator: id, organisation: creator.organisationId };
  if (inserted > 0) await auditOperator(tx, { event: 'creator_registered', details });
  return readPublished(tx, id);
}
