import { type Sql, statement } from '@fulfilment/database';

const find = statement('organisations.find', 'SELECT 1 FROM organisations WHERE id = $1');

/** @throws Error for an unknown organisation */
export async function requireOrganisation(sql: Sql, id: string): Promise<void> {
  if ((await sql.row(find, [id])) === undefined) throw new Error(`The organisation ${id} does not exist.`);
}
