import type { ListOrdersDto } from './list-orders.dto.js';
import { pageQuery } from './order-pages.js';

const time = '2026-01-01T00:00:00Z';
const filters: Partial<ListOrdersDto> = {
  status: 'pending',
  platform: 'p',
  store_id: 's',
  external_order_id: 'e',
  created_after: time,
  created_before: time,
  updated_since: time,
};

/** Returns a query for every subset of the filters. */
function queriesOfAllFilters(): ListOrdersDto[] {
  let queries: ListOrdersDto[] = [{ limit: 25 }];
  for (const [name, value] of Object.entries(filters))
    queries = queries.flatMap((query) => [query, { ...query, [name]: value }]);
  return queries;
}

describe('the statement of a page of orders', () => {
  it('has a different name for each text, of at most 63 bytes, since PostgreSQL truncates longer names', () => {
    const texts = new Map<string, string>();
    for (const query of queriesOfAllFilters())
      for (const after of [undefined, { micros: 0, id: '' }]) {
        const { name, text } = pageQuery('', query, after).statement;
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
        expect(texts.get(name) ?? text).toBe(text);
        texts.set(name, text);
      }
    // Six filters, since created_after and created_before share a statement; each with and without a cursor.
    expect(texts.size).toBe(2 * 2 ** 6);
  });
});
