import { type Currency, currencyExponents } from '@fulfilment/contracts';
import { divideHalfEven } from './round-half-even.rules.js';

/** Value of one euro on a day in the currencies to convert from and to, as decimal text. */
interface ExchangeRate {
  readonly from: string;
  readonly to: string;
}

/** Converts an amount of minor units, rounded half to even. Uses exact integers, never floating point. */
export function convert(amount: bigint, from: Currency, to: Currency, rate: ExchangeRate): bigint {
  const source = parseDecimal(rate.from);
  const target = parseDecimal(rate.to);
  const numerator = amount * target.digits * 10n ** BigInt(currencyExponents[to] + source.scale);
  const denominator = source.digits * 10n ** BigInt(currencyExponents[from] + target.scale);
  return divideHalfEven(numerator, denominator);
}

/** "164.25" becomes 16425 with a scale of 2. */
function parseDecimal(text: string): { digits: bigint; scale: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}
