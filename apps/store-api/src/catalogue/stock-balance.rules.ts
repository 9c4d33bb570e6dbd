/** What there is of a limited edition: at most one of both is above zero. */
export interface Balance {
  /** Pieces left to sell. */
  readonly quantity: number;
  /** Pieces that were sold and do not exist, as the warehouse reports it. */
  readonly oversold: number;
}

/** The most pieces that a product can have, or be short of. */
export const maxStock = 2_000_000_000;

/** @param balance pieces that exist less those that were sold */
export function stockOf(balance: number): Balance {
  return { quantity: Math.max(0, balance), oversold: Math.max(0, -balance) };
}

/**
 * The balance by a new count. Of two counts of one time the lower one holds, whichever arrives first.
 * @param counted the counted pieces with all changes since
 */
export function balanceAfterCount(
  counted: number,
  before: { readonly quantity: number | null; readonly oversold: number; readonly counted_then: boolean },
): number {
  if (!before.counted_then || before.quantity === null) return counted;
  return Math.min(counted, before.quantity - before.oversold);
}
