import { BatchLoader } from './index.js';

/** A loader whose statements end when the test ends them. The key `nothing` has no row. */
function slowLoader(options: { readonly dedupeKey?: (key: string) => string } = {}) {
  const statements: { keys: readonly string[]; succeed: () => void; fail: (error: Error) => void }[] = [];
  const loader = new BatchLoader<string, string>({
    run: (keys) =>
      new Promise((resolve, reject) => {
        const rows = keys.flatMap((key, index) =>
          key === 'nothing' ? [] : [{ index, row: `row of ${key}` }],
        );
        statements.push({ keys, succeed: () => resolve(rows), fail: reject });
      }),
    maxBatchSize: 3,
    ...options,
  });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  return { loader, statements, tick };
}

describe('the batch loader', () => {
  it('loads keys that are requested in one tick by one statement, and returns the row of each key, or undefined', async () => {
    const { loader, statements, tick } = slowLoader();
    const rows = Promise.all(['a', 'nothing', 'b'].map((key) => loader.load(key)));
    await tick();
    expect(statements.map(({ keys }) => keys)).toEqual([['a', 'nothing', 'b']]);
    statements[0]?.succeed();
    expect(await rows).toEqual(['row of a', undefined, 'row of b']);
  });

  it('never serves a request from a statement that started before the request', async () => {
    const { loader, statements, tick } = slowLoader();
    const first = loader.load('a');
    await tick();
    const second = loader.load('a');
    await tick();
    expect(statements).toHaveLength(1);
    statements[0]?.succeed();
    await first;
    await tick();
    expect(statements).toHaveLength(2);
    statements[1]?.succeed();
    expect(await second).toBe('row of a');
  });

  it('loads keys with the same dedupe key once, and never from a statement that already runs', async () => {
    const { loader, statements, tick } = slowLoader({ dedupeKey: (key) => key });
    const rows = Promise.all(['a', 'b', 'a', 'a'].map((key) => loader.load(key)));
    await tick();
    const later = loader.load('a');
    expect(statements.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    statements[0]?.succeed();
    expect(await rows).toEqual(['row of a', 'row of b', 'row of a', 'row of a']);
    await tick();
    expect(statements.map(({ keys }) => keys)).toEqual([['a', 'b'], ['a']]);
    statements[1]?.succeed();
    expect(await later).toBe('row of a');
  });

  it('loads keys without a dedupe key as often as they are requested', async () => {
    const { loader, statements, tick } = slowLoader();
    const rows = Promise.all(['a', 'a'].map((key) => loader.load(key)));
    await tick();
    expect(statements.map(({ keys }) => keys)).toEqual([['a', 'a']]);
    statements[0]?.succeed();
    expect(await rows).toEqual(['row of a', 'row of a']);
  });

  it('puts keys beyond the maximum batch size into the next statement, and rejects only the keys of a failed statement', async () => {
    const { loader, statements, tick } = slowLoader();
    const all = ['a', 'b', 'c', 'd'].map((key) => loader.load(key).catch(() => 'failed'));
    await tick();
    statements[0]?.fail(new Error('away'));
    await tick(); // the failure schedules the next statement
    await tick();
    statements[1]?.succeed();
    expect(await Promise.all(all)).toEqual(['failed', 'failed', 'failed', 'row of d']);
  });
});
