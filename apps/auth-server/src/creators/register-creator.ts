import { messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { z } from 'zod';
import { requireOrganisation } from '../accounts/require-organisation.js';
import { auditOperator } from '../audit/operator-audit.js';
import { creatorOptions } from './creator-options.js';
import { creatorColumns, creatorSnapshot } from '../creator-snapshots/creator-snapshot.js';
import { readPublished } from '../creator-snapshots/publish-creators.js';

/** Options of `creator create`, the command that registers a creator, as columns of `creators`. */
export const createCreatorOptions = z
  .object({
    ...creatorOptions,
    organisation: z.string('is missing').min(1, 'must not be empty'),
    'payment-terms': creatorOptions['payment-terms'].default(true),
    'tax-interview': creatorOptions['tax-interview'].default(true),
    'settlement-currency': creatorOptions['settlement-currency'].default('GBP'),
    test: creatorOptions.test.default(false),
    id: z.uuid('must be a UUID').toLowerCase().default(uuidv7),
  })
  .transform((options) => ({
    id: options.id,
    organisation_id: options.organisation,
    name: options.name,
    payment_method: options['payment-method'],
    payment_terms_accepted: options['payment-terms'],
    tax_interview_completed: options['tax-interview'],
    settlement_currency: options['settlement-currency'],
    test: options.test,
  }));
type NewCreator = z.output<typeof createCreatorOptions>;

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
  const { id, organisation_id } = creator;
  return database.transaction(async (tx) => {
    await requireOrganisation(tx, organisation_id);
    if ((await tx.run(insert, creator)) > 0) {
      const details = { creator: id, organisation: organisation_id };
      await auditOperator(tx, { event: 'creator_registered', details });
    }
    const row = await readPublished(tx, id);
    if (row.organisation_id !== organisation_id)
      throw new Error('A creator of another organisation already has this id.');
    if (row.test !== creator.test)
      throw new Error(`The creator with this id is a ${row.test ? 'test' : 'live'} creator.`);
    const message = messages.creatorRegistered.make(
      { creator: creatorSnapshot(row) },
      { occurredAt: new Date() },
    );
    await outbox.add(tx, message);
    return { uuid: id, id: publicId('crt', id), name: row.name, message_id: message.id };
  });
}
