/** Sums as PostgreSQL returns them: text, because they may exceed the safe integers of JavaScript. */
export interface SumsRow {
  readonly units: string;
  readonly revenue: string;
  readonly royalties: string;
}

/** Returns sums for a response with `ExactIntegers`; zeros without a row. */
export function exactSums({ units = '0', revenue = '0', royalties = '0' }: Partial<SumsRow> = {}) {
  return { units: Number(units), revenue: BigInt(revenue), royalties: BigInt(royalties) };
}
