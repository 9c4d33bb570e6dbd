import type { QueryResult, QueryResultRow } from 'pg';
import { type Statement, type Values, valuesOf } from './sql.js';

export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  values: unknown[];
}

/** Runs queries: pg's pool, or one of its clients. */
export interface Queryable {
  query<Row extends QueryResultRow>(config: NamedQuery): Promise<QueryResult<Row>>;
}

export async function rows<Row>(queryable: Queryable, statement: Statement, values: Values): Promise<Row[]> {
  return (await queryable.query<Row & QueryResultRow>(queryOf(statement, values))).rows;
}

export async function run(queryable: Queryable, statement: Statement, values: Values): Promise<number> {
  return (await queryable.query(queryOf(statement, values))).rowCount ?? 0;
}

function queryOf(statement: Statement, values: Values): NamedQuery {
  return { name: statement.name, text: statement.text, values: valuesOf(statement, values) };
}
