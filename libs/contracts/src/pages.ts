/** Store lists. */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly next_cursor: string | null; readonly has_more: boolean };
}

/** Creator lists. */
export interface NumberedPage<Item> {
  readonly data: readonly Item[];
  readonly meta: { readonly page: number; readonly per_page: number; readonly total: number };
}
