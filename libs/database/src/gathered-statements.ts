interface Waiting<Key, Row> {
  readonly key: Key;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface GatheredStatementsOptions<Key, Row> {
  /** Asks for many at once. Answers rows with the index of the key they belong to; keys without a row are left out. */
  readonly run: (keys: readonly Key[]) => Promise<readonly { readonly index: number; readonly row: Row }[]>;
  /** Statements under way at once; what is asked meanwhile waits for one of them and goes together. */
  readonly atOnce?: number;
  /** Keys of one statement. */
  readonly atMost?: number;
}

/**
 * Rows by key, read or written: those that are asked for at the same time go in one statement, since a round trip costs more than the
 * rows. A statement starts only after all it answers were asked, so nobody gets a row as it was before the question. Not for use
 * inside a transaction.
 */
export class GatheredStatements<Key, Row> {
  private readonly waiting: Waiting<Key, Row>[] = [];
  private underWay = 0;
  private scheduled = false;

  constructor(private readonly options: GatheredStatementsOptions<Key, Row>) {}

  row(key: Key): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      this.schedule();
    });
  }

  /** Once what runs now has asked. */
  private schedule(): void {
    if (this.scheduled || this.underWay >= (this.options.atOnce ?? 1)) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.send();
    });
  }

  private async send(): Promise<void> {
    const asked = this.waiting.splice(0, this.options.atMost ?? 100);
    if (asked.length === 0) return;
    this.underWay += 1;
    if (this.waiting.length > 0) this.schedule();
    try {
      const found = await this.options.run(asked.map(({ key }) => key));
      for (const { index, row } of found) asked[index]?.resolve(row);
      for (const { resolve } of asked) resolve(undefined); // those without a row; the others have theirs
    } catch (error) {
      for (const { reject } of asked) reject(error);
    } finally {
      this.underWay -= 1;
      if (this.waiting.length > 0) this.schedule();
    }
  }
}
