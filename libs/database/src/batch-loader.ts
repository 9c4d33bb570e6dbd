interface Asked<Key, Row> {
  readonly key: Key;
  readonly answer: PromiseWithResolvers<Row | undefined>;
}

export interface GatheredStatementsOptions<Key, Row> {
  /** Asks for many at once. Answers rows with the index of the key they belong to; keys without a row are left out. */
  readonly run: (keys: readonly Key[]) => Promise<readonly { readonly index: number; readonly row: Row }[]>;
  /** Statements under way at once; what is asked meanwhile waits for one of them and goes together. */
  readonly atOnce?: number;
  /** Keys of one statement. */
  readonly atMost?: number;
  /** For reads: keys of one name in a statement are one, and who asked for them share its row, which nobody may change. */
  readonly nameOf?: (key: Key) => string | undefined;
}

/**
 * Rows by key, read or written: those that are asked for at the same time go in one statement, since a round trip costs more than the
 * rows. A statement starts only after all it answers were asked, so nobody gets a row as it was before the question. Not for use
 * inside a transaction.
 */
export class GatheredStatements<Key, Row> {
  private readonly waiting = new Map<string | symbol, Asked<Key, Row>>();
  private underWay = 0;
  private scheduled = false;

  constructor(private readonly options: GatheredStatementsOptions<Key, Row>) {}

  row(key: Key): Promise<Row | undefined> {
    const name = this.options.nameOf?.(key) ?? Symbol();
    const same = this.waiting.get(name);
    if (same !== undefined) return same.answer.promise;
    const answer = Promise.withResolvers<Row | undefined>();
    this.waiting.set(name, { key, answer });
    this.schedule();
    return answer.promise;
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
    const asked = this.take();
    if (asked.length === 0) return;
    this.underWay += 1;
    if (this.waiting.size > 0) this.schedule();
    try {
      const found = await this.options.run(asked.map(({ key }) => key));
      for (const { index, row } of found) asked[index]?.answer.resolve(row);
      for (const { answer } of asked) answer.resolve(undefined); // those without a row; the others have theirs
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    } finally {
      this.underWay -= 1;
      if (this.waiting.size > 0) this.schedule();
    }
  }

  /** What one statement asks for: the oldest. */
  private take(): Asked<Key, Row>[] {
    const asked = [...this.waiting].slice(0, this.options.atMost ?? 100);
    for (const [name] of asked) this.waiting.delete(name);
    return asked.map(([, one]) => one);
  }
}
