import { z } from 'zod';

/** A page of a list with a cursor. */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly next_cursor: string | null; readonly has_more: boolean };
}

/** A page of a list with page numbers. */
export interface NumberedPage<Item> {
  readonly data: readonly Item[];
  readonly meta: { readonly page: number; readonly per_page: number; readonly total: number };
}

const pagination = z
  .object({
    next_cursor: z
      .string()
      .nullable()
      .describe('Send it as `cursor` to read the next page; null on the last page'),
    has_more: z.boolean().describe('Whether there is a next page'),
  })
  .meta({
    id: 'Pagination',
    description: 'Pagination of a list by cursor.',
    examples: [{ next_cursor: null, has_more: false }],
  });

/** Returns the schema of a `CursorPage` in responses. @param example of an item */
export function cursorPageShape<Item extends z.ZodType>(item: Item, example: object) {
  return z
    .object({
      data: z
        .array(item)
        .max(100)
        .describe('Items, newest first unless the operation describes another order'),
      pagination,
    })
    .meta({ examples: [{ data: [example], pagination: { next_cursor: null, has_more: false } }] });
}

const pageNumbers = z
  .object({
    page: z.int().min(1).describe('Number of this page, from 1'),
    per_page: z.int().min(1).max(100).describe('Maximum number of items per page'),
    total: z.int().min(0).describe('Total number of items'),
  })
  .meta({
    id: 'PageNumbers',
    description: 'Pagination of a list by page number.',
    examples: [{ page: 1, per_page: 25, total: 1 }],
  });

/** Returns the schema of a `NumberedPage` in responses. @param example of an item */
export function numberedPageShape<Item extends z.ZodType>(item: Item, example: object) {
  return z
    .object({
      data: z
        .array(item)
        .max(100)
        .describe(
          'Items, newest first unless the operation describes another order; empty past the last page',
        ),
      meta: pageNumbers,
    })
    .meta({ examples: [{ data: [example], meta: { page: 1, per_page: 25, total: 1 } }] });
}
