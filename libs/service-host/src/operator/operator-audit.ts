import { type Database, type Sql, statement } from '@fulfilment/database';

/** DDL for the migrations of each service: the log of operator commands on its data. */
export const createOperatorAudit = `
  CREATE TABLE operator_audit (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    operator text NOT NULL,
    command text NOT NULL,
    subjects text[] NOT NULL,
    options text[] NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('started', 'done', 'failed'))
  )`;

const start = statement(
  'operator-audit.start',
  `INSERT INTO operator_audit (operator, command, subjects, options, outcome) VALUES ($1, $2, $3, $4, 'started') RETURNING position::text`,
);
const end = statement(
  'operator-audit.end',
  `UPDATE operator_audit SET ended_at = now(), outcome = $2, subjects = subjects || $3::text[] WHERE position = $1::bigint`,
);
const insertMessage = statement(
  'operator-audit.message',
  `INSERT INTO operator_audit (ended_at, operator, command, subjects, options, outcome) VALUES (now(), $1, $2, $3, '{}', 'done')`,
);
// `ORDER BY position` would sort by the text of the output.
const page = statement(
  'operator-audit.page',
  `SELECT position::text, started_at, ended_at, operator, command, subjects, options, outcome FROM operator_audit AS record
   WHERE ($1::bigint IS NULL OR position < $1::bigint) AND ($2::text IS NULL OR operator = $2)
   ORDER BY record.position DESC LIMIT $3`,
);

/**
 * A command without the values of its options, which may be secrets or personal data. Of the operands, only
 * those that may be ids are recorded.
 */
export interface AuditedCommand {
  readonly name: string;
  readonly operands: readonly string[];
  readonly options: readonly string[];
}

export interface OperatorRecord {
  readonly position: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly operator: string;
  readonly command: string;
  /** Operands that may be ids, and the ids in the output of the command. */
  readonly subjects: readonly string[];
  /** Names of the options, without their values. */
  readonly options: readonly string[];
  readonly outcome: 'started' | 'done' | 'failed';
}

/**
 * Runs a command. Records it before it runs, and its outcome afterwards. If the process dies or loses its
 * database, the record stays `started`.
 * @throws the error of the command, or of the record
 */
export async function runAudited(
  sql: Sql,
  operator: string,
  { name, operands, options }: AuditedCommand,
  run: () => Promise<object>,
): Promise<object> {
  const record = await sql.row<{ position: string }>(start, [
    operator,
    name,
    operands.filter(mayBeId),
    options,
  ]);
  const finish = (outcome: OperatorRecord['outcome'], subjects: readonly string[]) =>
    sql.run(end, [record?.position, outcome, subjects]);
  let result: object;
  try {
    result = await run();
  } catch (error) {
    await finish('failed', []).catch(() => undefined); // the command's own error says more
    throw error;
  }
  await finish('done', idsOf(result));
  return result;
}

/** Records the effect of an operator's message, in the same transaction. Other messages are not recorded. */
export async function recordOperatorMessage(
  sql: Sql,
  { operator, id, type }: { readonly operator?: string; readonly id: string; readonly type: string },
): Promise<void> {
  if (operator !== undefined) await sql.run(insertMessage, [operator, type, [id]]);
}

/**
 * Returns the newest records before a position, in ascending order. The next page has the older records: its
 * query needs the `before` of this result, which is null on the last page.
 */
export async function readOperatorAudit(
  database: Database,
  query: {
    readonly operator?: string | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<{ records: OperatorRecord[]; before: string | null }> {
  const { operator, before, limit } = query;
  const rows = await database.rows<OperatorRecord>(page, [before ?? null, operator ?? null, limit + 1]);
  const records = rows.slice(0, limit).reverse();
  return { records, before: rows.length > limit ? (records[0]?.position ?? null) : null };
}

const maxIdLength = 100;

/** E-mail addresses are personal data, and long texts are no ids. */
function mayBeId(text: string): boolean {
  return text.length <= maxIdLength && !text.includes('@');
}

/** Returns the ids in the output of a command, such as `client_id`. */
export function idsOf(result: object): string[] {
  return Object.entries(result).flatMap(([name, value]: [string, unknown]) =>
    /(^|_)(id|kid|uuid)$/.test(name) && typeof value === 'string' && mayBeId(value) ? [value] : [],
  );
}
