interface CursorPage<Item> {
  readonly data: {
    readonly data: readonly Item[];
    readonly pagination: { readonly next_cursor: string | null };
  };
}

/**
 * Yields the items of all pages of a list of the Store API.
 * @param read requests the page of a cursor; undefined stands for the first page
 */
export async function* iterateByCursor<Item>(
  read: (cursor: string | undefined) => Promise<CursorPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  for (;;) {
    const { data: page } = await read(cursor);
    yield* page.data;
    if (page.pagination.next_cursor === null) return;
    cursor = page.pagination.next_cursor;
  }
}

interface NumberedPage<Item> {
  readonly data: {
    readonly data: readonly Item[];
    readonly meta: { readonly page: number; readonly per_page: number; readonly total: number };
  };
}

/**
 * Yields the items of all pages of a list of the Creator API.
 * @param read requests a page by its number, from 1
 */
export async function* iterateByPage<Item>(
  read: (page: number) => Promise<NumberedPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let number = 1; ; number += 1) {
    const { data: page } = await read(number);
    yield* page.data;
    const { per_page: perPage, total } = page.meta;
    if (page.data.length === 0 || number * perPage >= total) return;
  }
}
