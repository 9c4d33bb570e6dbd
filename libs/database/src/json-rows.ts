/**
 * Rows as one JSON parameter, for the keys of a `BatchLoader`. PostgreSQL assumes 100 rows for any JSON, so
 * that it keeps one plan. With arrays (`RowParameters`) of fewer than ten rows, it would plan each execution,
 * which takes as long as reading the rows. Statements look up rows by subqueries, which always use an index:
 * a plan from the time when a table was empty may read the whole table for a join or NOT EXISTS.
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
