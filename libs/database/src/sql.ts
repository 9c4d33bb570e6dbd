/** An SQL text. PostgreSQL prepares it once per connection under its name; with the name '', each time. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Names of the parameters, in the order of their numbers; empty if the text was written with numbers. */
  readonly parameters?: readonly string[];
}

/** Values by number or by name, as in the text of the statement. Other members of an object are ignored. */
export type Values = readonly unknown[] | Readonly<Record<string, unknown>>;

/** A quoted text, which is kept, or a parameter. A second colon before a name marks a cast (`::int`). */
const quotedOrParameter = /'[^']*'|\$\d+|(?<!:):([a-z]\w*)/gi;

/** PostgreSQL truncates longer names of prepared statements, so that two of them could become the same. */
const maxNameBytes = 63;

/**
 * @param name unique in the service, `<feature>.<action>`, at most 63 bytes
 * @param text with parameters `$1`, `$2` or, where there are many, `:name`
 * @throws Error on a longer name, or on both kinds of parameters in one text
 */
export function statement(name: string, text: string): Statement {
  if (Buffer.byteLength(name) > maxNameBytes)
    throw new Error(`The name of the statement ${name} is longer than ${maxNameBytes} bytes.`);
  const parameters: string[] = [];
  let hasNumbers = false;
  const numbered = text.replaceAll(quotedOrParameter, (match, parameter?: string) => {
    hasNumbers ||= match.startsWith('$');
    if (parameter === undefined) return match;
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  if (hasNumbers && parameters.length > 0) {
    throw new Error(`The statement ${name} has parameters by number and by name.`);
  }
  return { name, text: numbered, parameters };
}

/** Returns the values in the order of the statement's parameters. */
export function valuesOf({ name, parameters = [] }: Statement, values: Values): unknown[] {
  if (isList(values)) {
    if (parameters.length > 0) throw new Error(`The statement ${name} needs its values by name.`);
    return [...values];
  }
  return parameters.map((parameter) => {
    if (!(parameter in values)) throw new Error(`The statement ${name} needs a value for :${parameter}.`);
    return values[parameter];
  });
}

function isList(values: Values): values is readonly unknown[] {
  return Array.isArray(values);
}

/** Returns SQL for columns of one table: `orders.id, orders.status`. @param columns `id, status` */
export function qualifyColumns(table: string, columns: string): string {
  return columns.replaceAll(/\w+/g, (column) => `${table}.${column}`);
}

/** Runs statements: on the pool, or inside one transaction. */
export interface Sql {
  rows<Row>(statement: Statement, values?: Values): Promise<Row[]>;
  /** Returns the first row, if there is one. */
  row<Row>(statement: Statement, values?: Values): Promise<Row | undefined>;
  /** Returns the number of affected rows. */
  run(statement: Statement, values?: Values): Promise<number>;
}

/** One open transaction. */
export interface Transaction extends Sql {
  /**
   * Adds statements that are awaited with the commit. COMMIT is sent in one packet with the statements that
   * were issued in the same tick. If one of them fails, nothing is committed.
   */
  awaitAtCommit(...pendingStatements: readonly Promise<unknown>[]): void;
  /** Calls back after the commit has succeeded; never when the transaction rolls back. */
  afterCommit(callback: () => void): void;
}

/** A query for a row that only one transaction writes: it shows whether the transaction was committed. */
export interface CommitProbe {
  readonly statement: Statement;
  readonly values: Values;
}

/**
 * SQL: whether the user may assume a role by SET ROLE. Since PostgreSQL 16, a user that creates a role is a
 * member of it that may not assume it.
 * @param role SQL of the role's name or oid
 */
export const mayAssumeRoleSql = (role: string): string =>
  `pg_has_role(${role}, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)`;
