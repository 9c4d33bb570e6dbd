import { currencies, messages, publicId, sandboxPaymentMethods, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { z } from 'zod';
import { creatorColumns, type CreatorRow, creatorSnapshot } from './creator-snapshot.js';

export const newCreator = z.object({
  organisation: z.string().min(1),
  name: z.string().trim().min(1).max(200),
  paymentMethod: z.enum(sandboxPaymentMethods),
  settlementCurrency: z.enum(currencies).default('GBP'),
  id: z.uuid().toLowerCase().optional(),
});
export type NewCreator = z.infer<typeof newCreator>;

export interface RegisteredCreator {
  readonly uuid: string;
  /** The Store API's form. */
  readonly id: string;
  readonly name: string | null;
  /** By which one can ask a service whether it has heard. */
  readonly message_id: string;
}

const insert = statement(
  'creators.insert',
  `INSERT INTO creators (${creatorColumns}) VALUES ($1, $2, $3, $4, true, true, $5, 1, now())
   ON CONFLICT (id) DO NOTHING RETURNING ${creatorColumns}`,
);
const find = statement('creators.find', `SELECT ${creatorColumns} FROM creators WHERE id = $1`);
const findOrganisation = statement('creators.organisation', 'SELECT 1 FROM organisations WHERE id = $1');

/**
 * Registers a creator and tells everybody, in one commit. One who has the given id already stays as they are, and is told of again
 * under a new message: telling twice is harmless, and heals a service that never heard.
 */
export async function registerCreator(
  database: Database,
  outbox: Outbox,
  creator: NewCreator,
): Promise<RegisteredCreator> {
  return database.transaction(async (tx) => {
    if ((await tx.row(findOrganisation, [creator.organisation])) === undefined)
      throw new Error(`There is no organisation ${creator.organisation}.`);
    const row = await insertOrFind(tx, creator);
    if (row.organisation_id !== creator.organisation)
      throw new Error('A creator of another organisation has this id.');
    const message = messages.creatorRegistered.make(
      { creator: creatorSnapshot(row) },
      { occurredAt: new Date() },
    );
    await outbox.add(tx, message);
    return { uuid: row.id, id: publicId('crt', row.id), name: row.name, message_id: message.id };
  });
}

async function insertOrFind(tx: Transaction, creator: NewCreator): Promise<CreatorRow> {
  const id = creator.id ?? uuidv7();
  const values = [id, creator.organisation, creator.name, creator.paymentMethod, creator.settlementCurrency];
  const row =
    (await tx.row<CreatorRow & Record<string, unknown>>(insert, values)) ??
    (await tx.row<CreatorRow & Record<string, unknown>>(find, [id]));
  if (row === undefined) throw new Error('The creator was not stored.');
  return row;
}
