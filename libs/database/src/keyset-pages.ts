/**
 * Yields the pages of a list, until one is not full; never an empty page.
 * @param read returns the page after a row; undefined for the first page
 */
export async function* keysetPages<Row>(
  pageSize: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  let last: Row | undefined;
  for (;;) {
    const page = await read(last);
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1);
  }
}
