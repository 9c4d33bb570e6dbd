import { divideHalfEven } from '../money/round-half-even.rules.js';

/** 100 %. */
const wholeBasisPoints = 10_000n;

interface LineFigures {
  readonly totalAmount: bigint;
  /** Included in the total. */
  readonly vatAmount: bigint;
  readonly royaltyAmount: bigint;
}

/**
 * Calculates the amounts of a line, in minor units of the order's currency; rates are in basis points. The
 * total includes VAT; the royalty is a share of the total without VAT. Each amount of a line is rounded half
 * to even, so the totals of an order are sums of its lines.
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
