import { divideHalfEven } from '../half-even.rules.js';

const wholeBasisPoints = 10_000n;

export interface LineFigures {
  readonly totalAmount: bigint;
  /** Inside the total. */
  readonly vatAmount: bigint;
  readonly royaltyAmount: bigint;
}

/**
 * What one line comes to, in minor units of the order's currency. VAT is inside the total; the royalty is a share of what is
 * left without it. Each is rounded on its own, halves to even, so that totals are plain sums of lines.
 */
export function lineFigures(line: {
  readonly quantity: number;
  readonly unitAmount: number;
  readonly vatRate: number;
  readonly royaltyRate: number;
}): LineFigures {
  const totalAmount = BigInt(line.quantity) * BigInt(line.unitAmount);
  const vatRate = BigInt(line.vatRate);
  const vatAmount = divideHalfEven(totalAmount * vatRate, wholeBasisPoints + vatRate);
  const royaltyAmount = divideHalfEven(
    (totalAmount - vatAmount) * BigInt(line.royaltyRate),
    wholeBasisPoints,
  );
  return { totalAmount, vatAmount, royaltyAmount };
}
