import { isUuid } from '@fulfilment/contracts';
import { type Sql, statement, type Transaction } from '@fulfilment/database';

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly global_admin: boolean;
  readonly disabled_at: Date | null;
  readonly redacted_at: Date | null;
}

const columns = 'id, email, global_admin, disabled_at, redacted_at';
const findById = statement('users.by-id', `SELECT ${columns} FROM users WHERE id = $1`);
const findByEmail = statement(
  'users.by-email',
  `SELECT ${columns} FROM users WHERE lower(email) = lower($1)`,
);
const lock = statement('users.lock', `SELECT ${columns} FROM users WHERE id = $1 FOR UPDATE`);

/**
 * Finds a user.
 * @param user UUID or e-mail address, case-insensitive
 * @throws Error for an unknown user
 */
export async function findUser(sql: Sql, user: string): Promise<UserRow> {
  const id = user.trim().toLowerCase();
  const row = isUuid(id)
    ? await sql.row<UserRow>(findById, [id])
    : await sql.row<UserRow>(findByEmail, [user.trim()]);
  if (row === undefined) throw new Error(`The user ${user} does not exist.`);
  return row;
}

/** Finds a user and locks the row. */
export async function lockUser(tx: Transaction, user: string): Promise<UserRow> {
  const { id } = await findUser(tx, user);
  const locked = await tx.row<UserRow>(lock, [id]);
  if (locked === undefined) throw new Error(`The user ${user} does not exist.`);
  return locked;
}
