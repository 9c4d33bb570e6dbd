import { GatheredStatements } from '@fulfilment/database';
import { describe, expect, it } from '@jest/globals';

/** A store that answers when it is told to. */
function slowStore(options: { readonly nameOf?: (key: string) => string } = {}) {
  const asked: { keys: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const gathered = new GatheredStatements<string, string>({
    run: (keys) =>
      new Promise((resolve, reject) => {
        const rows = keys.flatMap((key, index) =>
          key === 'nothing' ? [] : [{ index, row: `row of ${key}` }],
        );
        asked.push({ keys, answer: () => resolve(rows), fail: reject });
      }),
    atMost: 3,
    ...options,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { gathered, asked, turn };
}

describe('gathered statements', () => {
  it('answer all that is asked at once by one statement, each with its own row', async () => {
    const { gathered, asked, turn } = slowStore();
    const rows = Promise.all(['a', 'nothing', 'b'].map((key) => gathered.row(key)));
    await turn();
    expect(asked.map(({ keys }) => keys)).toEqual([['a', 'nothing', 'b']]);
    asked[0]?.answer();
    expect(await rows).toEqual(['row of a', undefined, 'row of b']);
  });

  it('never answer a question from a statement that was under way before it', async () => {
    const { gathered, asked, turn } = slowStore();
    const first = gathered.row('a');
    await turn();
    const second = gathered.row('a');
    await turn();
    expect(asked).toHaveLength(1);
    asked[0]?.answer();
    await first;
    await turn();
    expect(asked).toHaveLength(2);
    asked[1]?.answer();
    expect(await second).toBe('row of a');
  });

  it('ask once for keys of one name, and never join a question that is under way', async () => {
    const { gathered, asked, turn } = slowStore({ nameOf: (key) => key });
    const rows = Promise.all(['a', 'b', 'a', 'a'].map((key) => gathered.row(key)));
    await turn();
    const later = gathered.row('a');
    expect(asked.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    asked[0]?.answer();
    expect(await rows).toEqual(['row of a', 'row of b', 'row of a', 'row of a']);
    await turn();
    expect(asked.map(({ keys }) => keys)).toEqual([['a', 'b'], ['a']]);
    asked[1]?.answer();
    expect(await later).toBe('row of a');
  });

  it('ask for keys without names as often as they are asked for', async () => {
    const { gathered, asked, turn } = slowStore();
    const rows = Promise.all(['a', 'a'].map((key) => gathered.row(key)));
    await turn();
    expect(asked.map(({ keys }) => keys)).toEqual([['a', 'a']]);
    asked[0]?.answer();
    expect(await rows).toEqual(['row of a', 'row of a']);
  });

  it('send what is too much for one statement with the next, and a failed statement fails only its own', async () => {
    const { gathered, asked, turn } = slowStore();
    const all = ['a', 'b', 'c', 'd'].map((key) => gathered.row(key).catch(() => 'failed'));
    await turn();
    asked[0]?.fail(new Error('away'));
    await turn();
    await turn();
    asked[1]?.answer();
    expect(await Promise.all(all)).toEqual(['failed', 'failed', 'failed', 'row of d']);
  });
});
