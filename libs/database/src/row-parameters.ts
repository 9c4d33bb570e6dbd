/** The type of a column in PostgreSQL, and its value for a row. */
type Column<Row> = readonly [type: string, value: (row: Row) => unknown];

/**
 * Rows as parameters of a statement: one array for each column, so that the text of the statement is the same
 * for any number of rows. The parameter of a column is `:<alias>_<column>`.
 */
export class RowParameters<Row> {
  /** @param alias name of the table in the statement */
  constructor(
    private readonly alias: string,
    private readonly columns: Readonly<Record<string, Column<Row>>>,
  ) {}

  /** SQL: the rows as a table. */
  table(): string {
    return `unnest(${this.arrays()}) AS ${this.alias}(${Object.keys(this.columns).join(', ')})`;
  }

  /** SQL: the rows as a table, with their `index` from 1 as the last column. */
  tableWithIndex(): string {
    const names = [...Object.keys(this.columns), 'index'].join(', ');
    return `unnest(${this.arrays()}) WITH ORDINALITY AS ${this.alias}(${names})`;
  }

  /** Values of the parameters. */
  values(rows: readonly Row[]): Record<string, unknown[]> {
    return Object.fromEntries(
      Object.entries(this.columns).map(([name, [, valueOf]]) => [this.parameter(name), rows.map(valueOf)]),
    );
  }

  private arrays(): string {
    return Object.entries(this.columns)
      .map(([name, [type]]) => `:${this.parameter(name)}::${type}[]`)
      .join(', ');
  }

  private parameter(column: string): string {
    return `${this.alias}_${column}`;
  }
}
