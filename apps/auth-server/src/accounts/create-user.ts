import { organisationRoles, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { z } from 'zod';
import { hashPassword } from './passwords.js';

/** What the operator gives. */
export const newUser = z
  .object({
    email: z.email('must be an e-mail address').max(254),
    password: z.string().min(8, 'must be at least 8 characters').max(1024),
    name: z.string().trim().min(1).max(200).optional(),
    organisation: z.string().optional(),
    role: z.enum(organisationRoles).optional(),
  })
  .refine(
    ({ role, organisation }) =>
      role === 'global_admin' || (role === undefined) === (organisation === undefined),
    {
      message: 'needs an organisation with owner, admin or member, and the other way round',
      path: ['role'],
    },
  )
  .refine(({ role, organisation }) => role !== 'global_admin' || organisation === undefined, {
    message: 'a global_admin belongs to no organisation',
    path: ['organisation'],
  });
export type NewUser = z.infer<typeof newUser>;

export interface CreatedUser {
  readonly user_id: string;
  readonly email: string;
  readonly org_id: string | null;
  readonly org_role: string | null;
}

const upsertUser = statement(
  'users.upsert',
  `INSERT INTO users (id, email, name, password_hash, global_admin) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (lower(email)) DO UPDATE SET password_hash = EXCLUDED.password_hash, password_changed_at = now(),
     name = coalesce(EXCLUDED.name, users.name), global_admin = EXCLUDED.global_admin
   RETURNING id, email`,
);
const upsertMembership = statement(
  'users.membership',
  `INSERT INTO memberships (user_id, organisation_id, role) VALUES ($1, $2, $3)
   ON CONFLICT (user_id, organisation_id) DO UPDATE SET role = EXCLUDED.role`,
);
const findOrganisation = statement('users.organisation', 'SELECT 1 FROM organisations WHERE id = $1');

/** Makes a user, or sets the password and role of the one who has the e-mail already. */
export async function createUser(database: Database, user: NewUser): Promise<CreatedUser> {
  const { organisation, role } = user;
  const passwordHash = await hashPassword(user.password);
  return database.transaction(async (tx) => {
    if (organisation !== undefined && (await tx.row(findOrganisation, [organisation])) === undefined)
      throw new Error(`There is no organisation ${organisation}.`);
    const row = await tx.row<{ id: string; email: string }>(upsertUser, [
      uuidv7(),
      user.email,
      user.name ?? null,
      passwordHash,
      role === 'global_admin',
    ]);
    if (row === undefined) throw new Error('The user was not stored.');
    if (organisation !== undefined) await tx.run(upsertMembership, [row.id, organisation, role]);
    return { user_id: row.id, email: row.email, org_id: organisation ?? null, org_role: role ?? null };
  });
}
