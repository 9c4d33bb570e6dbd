import { userRoles, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import type { RevokedToken, PublishRevokedTokens } from '../revocation/deny-list.js';
import { requireOrganisation } from './require-organisation.js';
import { displayName } from './display-name.js';
import { assertAcceptablePassword } from './assert-acceptable-password.js';
import { hashPassword, verifyPassword } from './passwords.js';
import { setPasswordAndEndAccess } from './replace-password.js';

/** Options of `user create`. */
export const createUserOptions = z
  .object({
    email: z
      .email({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be an e-mail address') })
      .max(254, 'must be at most 254 characters long'),
    password: z.string('is missing'),
    name: displayName.optional(),
    organisation: z.string().optional(),
    role: z.enum(userRoles, `must be one of ${userRoles.join(', ')}`).optional(),
  })
  .refine(
    ({ role, organisation }) =>
      role === 'global_admin' || (role !== undefined) === (organisation !== undefined),
    {
      message: 'must be given with the roles owner, admin and member, and only with these',
      path: ['organisation'],
    },
  )
  .refine(({ role, organisation }) => role !== 'global_admin' || organisation === undefined, {
    message: 'must not be given because a global_admin belongs to no organisation',
    path: ['organisation'],
  });
export type NewUser = z.infer<typeof createUserOptions>;

export interface CreatedOrUpdatedUser {
  readonly user_id: string;
  readonly email: string;
  readonly org_id: string | null;
  readonly org_role: string | null;
  /** An existing disabled user stays disabled. */
  readonly disabled: boolean;
}

interface ExistingUser {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly password_hash: string;
  readonly global_admin: boolean;
  readonly disabled: boolean;
  readonly memberships: readonly { readonly organisation_id: string; readonly role: string }[];
}

interface StoredUser {
  readonly id: string;
  readonly email: string;
  readonly disabled: boolean;
  /** Access tokens that a new password has ended. */
  readonly revoked: readonly RevokedToken[];
}

const findUser = statement(
  'users.find',
  `SELECT id, email, name, password_hash, global_admin, disabled_at IS NOT NULL AS disabled,
     (SELECT coalesce(jsonb_agg(jsonb_build_object('organisation_id', organisation_id, 'role', role)), '[]')
      FROM memberships WHERE user_id = users.id) AS memberships
   FROM users WHERE lower(email) = lower($1) FOR UPDATE`,
);
const insertUser = statement(
  'users.insert',
  `INSERT INTO users (id, email, name, password_hash, global_admin) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (lower(email)) DO NOTHING RETURNING id, email`,
);
const setMissingName = statement(
  'users.set-missing-name',
  'UPDATE users SET name = $2 WHERE id = $1 AND name IS NULL',
);
const insertMembership = statement(
  'users.insert-membership',
  'INSERT INTO memberships (user_id, organisation_id, role) VALUES ($1, $2, $3)',
);

/**
 * Creates a user. An existing user matches if it has the given role and organisation, and no name other than
 * the given one. It then gets the password, and the name if it has none. A different password ends all its
 * access.
 * @throws Error when an existing user does not match; nothing is then changed
 */
export async function createOrUpdateUser(
  database: Database,
  user: NewUser,
  publishRevoked: PublishRevokedTokens,
): Promise<CreatedOrUpdatedUser> {
  await assertAcceptablePassword(user.password, user.email);
  const { id, email, disabled, revoked } = await database.transaction(async (tx) => {
    if (user.organisation !== undefined) await requireOrganisation(tx, user.organisation);
    let stored = await updateExisting(tx, user);
    stored ??= await insert(tx, user);
    stored ??= await updateExisting(tx, user); // created concurrently, after the first `updateExisting`
    if (stored === undefined) throw new Error('The user was not stored.');
    return stored;
  });
  await publishRevoked(revoked);
  return { user_id: id, email, org_id: user.organisation ?? null, org_role: user.role ?? null, disabled };
}

/** Returns undefined when a user with this e-mail address was created concurrently. */
async function insert(tx: Transaction, user: NewUser): Promise<StoredUser | undefined> {
  const row = await tx.row<Pick<StoredUser, 'id' | 'email'>>(insertUser, [
    uuidv7(),
    user.email,
    user.name ?? null,
    await hashPassword(user.password),
    user.role === 'global_admin',
  ]);
  if (row === undefined) return undefined;
  if (user.organisation !== undefined) await tx.run(insertMembership, [row.id, user.organisation, user.role]);
  const details = { role: user.role, organisation: user.organisation };
  await auditOperator(tx, { event: 'user_created', userId: row.id, details });
  return { ...row, disabled: false, revoked: [] };
}

/**
 * Sets the password, and a missing name, of an existing user that matches the options. Does not set an
 * equal password, since that would count as a change and end all access. Returns undefined when no user has
 * this e-mail address.
 * @throws Error when an existing user does not match
 */
async function updateExisting(tx: Transaction, user: NewUser): Promise<StoredUser | undefined> {
  const existing = await tx.row<ExistingUser>(findUser, [user.email]);
  if (existing === undefined) return undefined;
  if (!matchesOptions(existing, user)) throw new Error('A user with this e-mail address already exists.');
  const { id, email, disabled } = existing;
  if (user.name !== undefined && existing.name === null) {
    await tx.run(setMissingName, [id, user.name]);
    await auditOperator(tx, { event: 'name_changed', userId: id });
  }
  if (await verifyPassword(user.password, existing.password_hash))
    return { id, email, disabled, revoked: [] };
  const revoked = await setPasswordAndEndAccess(tx, id, await hashPassword(user.password));
  await auditOperator(tx, { event: 'password_changed', userId: id });
  return { id, email, disabled, revoked };
}

function matchesOptions({ global_admin, memberships, name }: ExistingUser, requested: NewUser): boolean {
  const { organisation, role } = requested;
  const expected = organisation === undefined ? [] : [{ organisation_id: organisation, role }];
  return (
    global_admin === (role === 'global_admin') &&
    isDeepStrictEqual(memberships, expected) &&
    (requested.name === undefined || name === null || requested.name === name)
  );
}
