/** The stock of a limited edition as it is stored. At most one of the members is above zero. */
export interface StockLevel {
  /** Pieces left to sell. */
  readonly quantity: number;
  /** Pieces that were sold but do not exist, by the warehouse's count. */
  readonly oversold: number;
}

/**
 * Maximum of pieces in stock, and of oversold pieces. Below the maximum of an integer column in PostgreSQL.
 */
export const maxStock = 2_000_000_000;

/** Returns the stock to store. @param balance existing pieces minus sold pieces */
export function stockLevelOf(balance: number): StockLevel {
  return { quantity: Math.max(0, balance), oversold: Math.max(0, -balance) };
}

/** Returns the balance after a new count. Of two counts with the same time, the lower one applies. */
export function balanceAfterCount(
  countPlusLaterChanges: number,
  stored: {
    /** Null if the product is not a limited edition yet. */
    readonly quantity: number | null;
    readonly oversold: number;
    /** Whether the stored stock results from a count with the same time. */
    readonly countedAtSameTime: boolean;
  },
): number {
  if (!stored.countedAtSameTime || stored.quantity === null) return countPlusLaterChanges;
  return Math.min(countPlusLaterChanges, stored.quantity - stored.oversold);
}
