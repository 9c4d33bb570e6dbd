import { userRoles } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { z } from 'zod';
import { auditOperator } from '../audit/operator-audit.js';
import { creatorsOfConsents } from '../connected-apps/consents.js';
import { disconnectAndPublish } from '../connected-apps/disconnect-and-publish.js';
import { publishCreators } from '../creator-snapshots/publish-creators.js';
import type { PublishRevokedTokens, RevokedToken } from '../revocation/deny-list.js';
import {
  endAccessTokensOfUser,
  endFamiliesOfUser,
  endFamiliesOfUserAndOrganisation,
} from '../tokens/families.js';
import { requireOrganisation } from './require-organisation.js';
import { lockUser, type UserRow } from '../users/find-user.js';

const roles = [...userRoles, 'none'] as const;

/**
 * Operand and options of `user role`: a role in an organisation, or `global_admin` without one. `none`
 * removes either.
 */
export const changeRoleOptions = z
  .object({
    USER: z.string('is missing').min(1, 'must not be empty'),
    role: z.enum(roles, {
      error: ({ input }) => (input === undefined ? 'is missing' : `must be one of ${roles.join(', ')}`),
    }),
    organisation: z.string().min(1, 'must not be empty').optional(),
  })
  .refine(({ role, organisation }) => ['global_admin', 'none'].includes(role) || organisation !== undefined, {
    message: 'is missing',
    path: ['organisation'],
  })
  .refine(({ role, organisation }) => role !== 'global_admin' || organisation === undefined, {
    message: 'must not be given because a global_admin belongs to no organisation',
    path: ['organisation'],
  });
type RoleChange = z.infer<typeof changeRoleOptions>;

const readOrganisations = statement(
  'users.organisations',
  'SELECT organisation_id AS id FROM memberships WHERE user_id = $1 ORDER BY organisation_id',
);
const setGlobalAdmin = statement(
  'users.global-admin',
  'UPDATE users SET global_admin = $2 WHERE id = $1 AND global_admin <> $2',
);
const setMembership = statement(
  'users.set-membership',
  `INSERT INTO memberships (user_id, organisation_id, role) VALUES ($1, $2, $3)
   ON CONFLICT (user_id, organisation_id) DO UPDATE SET role = EXCLUDED.role WHERE memberships.role <> EXCLUDED.role`,
);
const deleteMembership = statement(
  'users.delete-membership',
  'DELETE FROM memberships WHERE user_id = $1 AND organisation_id = $2',
);

/**
 * Sets or removes a person's role. The person's access tokens end, since they contain the old role; a refresh
 * issues tokens with the new one. When the person leaves an organisation, the token families for its creators
 * end, and when the person becomes a global admin, all families. Idempotent.
 */
export async function changeRole(
  database: Database,
  outbox: Outbox,
  publishRevoked: PublishRevokedTokens,
  { USER, role, organisation }: RoleChange,
): Promise<{ user_id: string; org_id: string | null; org_role: string; changed: boolean }> {
  const { id, revoked, changed } = await database.transaction(async (tx) => {
    const user = await lockUser(tx, USER);
    const applyChange = () => changeRoleAndEndTokens(tx, user, { role, organisation });
    if (organisation !== undefined && role === 'none')
      return disconnectAndPublish(tx, outbox, { userId: user.id, organisationId: organisation }, applyChange);
    const result = await applyChange();
    // Joining an organisation makes earlier consents valid. Other changes publish the same snapshots again,
    // which has no effect.
    if (result.changed) await publishCreators(tx, outbox, await creatorsOfConsents(tx, user.id));
    return result;
  });
  await publishRevoked(revoked);
  return { user_id: id, org_id: organisation ?? null, org_role: role, changed };
}

async function changeRoleAndEndTokens(
  tx: Transaction,
  user: UserRow,
  requested: Omit<RoleChange, 'USER'>,
): Promise<{ id: string; revoked: RevokedToken[]; changed: boolean }> {
  const { id } = user;
  const { role, organisation } = requested;
  if ((await setRole(tx, user, requested)) === 0) return { id, revoked: [], changed: false };
  // The families of a new global admin may have begun without the second factor that the role requires.
  const revoked = await (role === 'global_admin' ? endFamiliesOfUser(tx, id) : endAccessTokensOfUser(tx, id));
  if (organisation !== undefined && role === 'none')
    revoked.push(...(await endFamiliesOfUserAndOrganisation(tx, id, organisation)));
  await auditOperator(tx, { event: 'user_role_changed', userId: id, details: requested });
  return { id, revoked, changed: true };
}

/** Returns the number of changed rows. */
async function setRole(
  tx: Transaction,
  user: UserRow,
  { role, organisation }: Omit<RoleChange, 'USER'>,
): Promise<number> {
  const { id, email, global_admin } = user;
  // Without an organisation, `changeRoleOptions` allows only `global_admin` and `none`.
  if (organisation === undefined)
    return role === 'none' ? revokeGlobalAdmin(tx, user) : grantGlobalAdmin(tx, user);
  if (role === 'none') return tx.run(deleteMembership, [id, organisation]);
  if (global_admin) throw new Error(`${email} is a global_admin and cannot belong to an organisation.`);
  await requireOrganisation(tx, organisation);
  return tx.run(setMembership, [id, organisation, role]);
}

async function grantGlobalAdmin(tx: Transaction, { id, email }: UserRow): Promise<number> {
  if ((await tx.rows(readOrganisations, [id])).length > 0)
    throw new Error(`${email} belongs to an organisation and cannot become a global_admin.`);
  return tx.run(setGlobalAdmin, [id, true]);
}

async function revokeGlobalAdmin(tx: Transaction, { id, email }: UserRow): Promise<number> {
  const organisations = await tx.rows<{ id: string }>(readOrganisations, [id]);
  const ids = organisations.map((organisation) => organisation.id).join(', ');
  if (ids !== '') throw new Error(`--organisation is missing: ${email} has a role in ${ids}.`);
  return tx.run(setGlobalAdmin, [id, false]);
}
