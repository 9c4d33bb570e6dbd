import { type Database, statement } from '@fulfilment/database';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

export const newOrganisation = z.object({
  name: z.string().trim().min(1).max(200),
  id: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/, 'must be 1 to 64 of a-z, 0-9 and _')
    .optional(),
});
export type NewOrganisation = z.infer<typeof newOrganisation>;

const idBytes = 10;

const insert = statement(
  'organisations.insert',
  'INSERT INTO organisations (id, name) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
);

/** Makes an organisation; one that has the given id already stays as it is. */
export async function createOrganisation(
  database: Database,
  { id, name }: NewOrganisation,
): Promise<{ org_id: string }> {
  const organisationId = id ?? `org_${randomBytes(idBytes).toString('hex')}`;
  await database.run(insert, [organisationId, name]);
  return { org_id: organisationId };
}
