import { keysetPages } from './keyset-pages.js';

describe('keysetPages', () => {
  const pagesOf = async (rows: readonly number[]) => {
    const lasts: (number | undefined)[] = [];
    const pages: number[][] = [];
    const read = (last: number | undefined) => {
      lasts.push(last);
      return Promise.resolve(rows.filter((row) => row > (last ?? 0)).slice(0, 2));
    };
    for await (const page of keysetPages(2, read)) pages.push(page);
    return { pages, lasts };
  };

  it('yields each row once, and ends after a page that is not full', async () => {
    expect(await pagesOf([1, 2, 3])).toEqual({ pages: [[1, 2], [3]], lasts: [undefined, 2] });
  });

  it('yields no empty page', async () => {
    expect((await pagesOf([1, 2])).pages).toEqual([[1, 2]]);
    expect((await pagesOf([])).pages).toEqual([]);
  });
});
