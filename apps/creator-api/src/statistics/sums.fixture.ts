/** Sums as in responses. */
export interface Sums {
  readonly units: number;
  readonly revenue: number;
  readonly royalties: number;
}

export function addUp(addends: readonly Sums[]): Sums {
  const sum = (member: keyof Sums) => addends.reduce((total, addend) => total + addend[member], 0);
  return { units: sum('units'), revenue: sum('revenue'), royalties: sum('royalties') };
}
