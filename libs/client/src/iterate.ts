interface CursorPage<Item> {
  readonly data: {
    readonly data: readonly Item[];
    readonly pagination: { readonly next_cursor: string | null };
  };
}

/** Yields the items of all pages of a list of the Store API. `read` requests the page of a cursor. */
export async function* iterateByCursor<Item>(
  read: (cursor: string | undefined) => Promise<CursorPage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | undefined; ;) {
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

/** Yields the items of all pages of a list of the Creator API. `read` requests a page by number, from 1. */
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
