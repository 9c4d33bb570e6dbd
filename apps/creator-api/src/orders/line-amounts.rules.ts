import { divideHalfEven } from '../money/round-half-even.rules.js';

/** 100 %. */
const wholeBasisPoints = 10_000n;

interface LineAmounts {
  readonly total_amount: bigint;
  /** Included in the total. */
  readonly vat_amount: bigint;
  readonly royalty_amount: bigint;
}

/**
 * Calculates the amounts of a line, in minor units of the order's currency; rates are in basis points. The
 * total includes VAT; the royalty is a share of the total without VAT. Each amount of a line is rounded half
 * to even, so the totals of an order are sums of its lines.
 */
export function lineAmounts(
  line: { readonly quantity: number; readonly unit_amount: number; readonly royalty_rate: number },
  vatRate: number,
): LineAmounts {
  const total_amount = BigInt(line.quantity) * BigInt(line.unit_amount);
  const vat_amount = divideHalfEven(total_amount * BigInt(vatRate), wholeBasisPoints + BigInt(vatRate));
  const royalty = (total_amount - vat_amount) * BigInt(line.royalty_rate);
  return { total_amount, vat_amount, royalty_amount: divideHalfEven(royalty, wholeBasisPoints) };
}
