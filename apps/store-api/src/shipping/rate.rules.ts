/** The price of parcels up to a weight, in minor units. */
export interface WeightBand {
  readonly maxWeightGrams: number;
  readonly amount: number;
  /** Price of each started 500 g above the heaviest band; unused in the other bands. */
  readonly extra500gAmount: number;
}

const stepGrams = 500;

/**
 * Returns the price of a parcel in minor units; without a weight, that of the lightest band. Returns
 * undefined without bands.
 * @param bands lightest first
 */
export function bandPrice(bands: readonly WeightBand[], weightGrams: number | undefined): number | undefined {
  if (weightGrams === undefined) return bands[0]?.amount;
  const band = bands.find(({ maxWeightGrams }) => weightGrams <= maxWeightGrams);
  if (band !== undefined) return band.amount;
  const heaviest = bands.at(-1);
  if (heaviest === undefined) return undefined;
  const steps = Math.ceil((weightGrams - heaviest.maxWeightGrams) / stepGrams);
  return heaviest.amount + steps * heaviest.extra500gAmount;
}

/** Returns the weight of all pieces. */
export function parcelWeightGrams(
  lines: readonly { readonly weightGrams: number; readonly quantity: number }[],
): number {
  return lines.reduce((sum, { weightGrams, quantity }) => sum + weightGrams * quantity, 0);
}
