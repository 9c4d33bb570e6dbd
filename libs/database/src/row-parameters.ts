/** The type of a column in PostgreSQL, and its value for a row. */
type Column<Row> = readonly [type: string, value: (row: Row) => unknown];

/**
 * Rows as parameters of a statement: one array for each column, so that the text of the statement is the same
 * for any number of rows.
 */
export class RowParameters<Row> {
  /** @param first number of the first of these parameters; those before it are the statement's others */
  constructor(
    private readonly first: number,
    private readonly columns: Readonly<Record<string, Column<Row>>>,
  ) {}

  /** SQL: the rows as a table. */
  table(alias: string): string {
    return `unnest(${this.arrays()}) AS ${alias}(${Object.keys(this.columns).join(', ')})`;
  }

  /** SQL: the rows as a table, with their `index` from 1 as the last column. */
  tableWithIndex(alias: string): string {
    const names = [...Object.keys(this.columns), 'index'].join(', ');
    return `unnest(${this.arrays()}) WITH ORDINALITY AS ${alias}(${names})`;
  }

  values(rows: readonly Row[]): unknown[][] {
    return Object.values(this.columns).map(([, valueOf]) => rows.map(valueOf));
  }

  private arrays(): string {
    return Object.values(this.columns)
      .map(([type], index) => `$${this.first + index}::${type}[]`)
      .join(', ');
  }
}
