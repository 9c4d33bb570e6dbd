import { type Database, statement } from '@fulfilment/database';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import { displayName } from './display-name.js';

export const createOrganisationOptions = z.object({
  name: displayName,
  id: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/, 'must be 1 to 64 characters of a-z, 0-9 and _')
    .optional(),
});
type NewOrganisation = z.infer<typeof createOrganisationOptions>;

const idBytes = 10;

const insert = statement(
  'organisations.insert',
  'INSERT INTO organisations (id, name) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
);

/**
 * Creates an organisation. An existing one with the given id stays unchanged: a different `name` is ignored
 * without an error.
 */
export async function createOrganisation(
  database: Database,
  { id, name }: NewOrganisation,
): Promise<{ org_id: string }> {
  const organisationId = id ?? `org_${randomBytes(idBytes).toString('hex')}`;
  return database.transaction(async (tx) => {
    if ((await tx.run(insert, [organisationId, name])) > 0)
      await auditOperator(tx, { event: 'organisation_created', details: { organisation: organisationId } });
    return { org_id: organisationId };
  });
}
