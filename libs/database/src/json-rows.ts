/**
 * Rows as one JSON parameter, for the keys of a `BatchLoader`. PostgreSQL assumes 100 rows for any JSON, so
 * that it keeps one plan. With arrays (`RowParameters`) of fewer than ten rows, it would plan each execution,
 * which takes as long as reading the rows. Look up rows by scalar subqueries, or by LATERAL with LIMIT: these
 * use an index in every plan. A plan that was made while a table was empty may turn a join or NOT EXISTS into
 * a scan of the whole table.
 */
export class JsonRows<Row extends object> {
  /**
   * @param alias name of the table in the statement, and of the parameter
   * @param columns their types in PostgreSQL
   */
  constructor(
    private readonly alias: string,
    private readonly columns: Readonly<Record<keyof Row & string, string>>,
  ) {}

  /** SQL: the rows as a table, with their `index` from 0. */
  table(): string {
    const columns = Object.entries({ index: 'int', ...this.columns }).map(
      ([name, type]) => `${name} ${type}`,
    );
    return `json_to_recordset(:${this.alias}::json) AS ${this.alias} (${columns.join(', ')})`;
  }

  /** Value of the parameter. */
  values(rows: readonly Row[]): Record<string, string> {
    return { [this.alias]: JSON.stringify(rows.map((row, index) => ({ index, ...row }))) };
  }
}
