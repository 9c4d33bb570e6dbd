import { currentContext, inContext, isTracing, type WorkContext } from '@fulfilment/runtime';

const defaultMaxBatchSize = 100;

interface PendingKey<Key, Row> {
  readonly key: Key;
  readonly result: PromiseWithResolvers<Row | undefined>;
  /** Context of the request, if this process records spans. */
  readonly context: WorkContext | undefined;
}

export interface BatchLoaderOptions<Key, Row> {
  /** Loads many keys with one statement. Each row has the index of its key; a key may have no row. */
  readonly run: (keys: readonly Key[]) => Promise<readonly { readonly index: number; readonly row: Row }[]>;
  /** Maximum number of concurrent statements; default 1. Later keys wait and share the next statement. */
  readonly maxConcurrent?: number;
  /** Maximum number of keys in one statement; default 100. */
  readonly maxBatchSize?: number;
  /**
   * Waiting keys with the same dedupe key are loaded once and share one row, which must not be modified. Keys
   * without one are loaded as often as they are requested. Only for reads.
   */
  readonly dedupeKey?: (key: Key) => string | undefined;
}

/**
 * Loads or writes rows by key. Keys requested at the same time share one statement, since a round trip costs
 * more than the rows. A statement starts only after all of its keys were requested, so no caller gets a row
 * that is older than its request. Not for use inside a transaction.
 */
export class BatchLoader<Key, Row> {
  private readonly waiting = new Map<string | symbol, PendingKey<Key, Row>>();
  private runningCount = 0;
  private isScheduled = false;

  constructor(private readonly options: BatchLoaderOptions<Key, Row>) {}

  /** Returns the row of a key; undefined if it has none. */
  load(key: Key): Promise<Row | undefined> {
    const dedupeKey = this.options.dedupeKey?.(key) ?? Symbol();
    const pending = this.waiting.get(dedupeKey);
    if (pending !== undefined) return pending.result.promise;
    const result = Promise.withResolvers<Row | undefined>();
    this.waiting.set(dedupeKey, { key, result, context: isTracing() ? currentContext() : undefined });
    this.schedule();
    return result.promise;
  }

  /** Starts after the current tick, so that all keys requested in it share the statement. */
  private schedule(): void {
    if (this.isScheduled || this.runningCount >= (this.options.maxConcurrent ?? 1)) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      void this.runBatch();
    });
  }

  private async runBatch(): Promise<void> {
    const batch = this.takeBatch();
    if (batch.length === 0) return;
    this.runningCount += 1;
    if (this.waiting.size > 0) this.schedule();
    try {
      const rows = await inContextOf(batch, () => this.options.run(batch.map(({ key }) => key)));
      for (const { index, row } of rows) batch[index]?.result.resolve(row);
      for (const { result } of batch) result.resolve(undefined); // has no effect on keys with a row
    } catch (error) {
      for (const { result } of batch) result.reject(error);
    } finally {
      this.runningCount -= 1;
      if (this.waiting.size > 0) this.schedule();
    }
  }

  /** Takes the oldest waiting keys. */
  private takeBatch(): PendingKey<Key, Row>[] {
    const batch = [...this.waiting].slice(0, this.options.maxBatchSize ?? defaultMaxBatchSize);
    for (const [dedupeKey] of batch) this.waiting.delete(dedupeKey);
    return batch.map(([, pending]) => pending);
  }
}

/**
 * Runs a batch in the context of the first key whose span is recorded, or otherwise in that of the first key,
 * if it has one. Without this function, a batch could run in the context of an earlier batch.
 */
function inContextOf<Result>(
  batch: readonly { readonly context: WorkContext | undefined }[],
  run: () => Result,
): Result {
  if (!isTracing()) return run();
  const traced = batch.find(({ context }) => context?.span !== undefined) ?? batch[0];
  return traced?.context === undefined ? run() : inContext(traced.context, run);
}
