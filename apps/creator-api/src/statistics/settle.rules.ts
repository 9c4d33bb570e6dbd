import { type Currency, currencyExponents } from '@fulfilment/contracts';
import { divideHalfEven } from '../half-even.rules.js';

/** What one euro is in the two currencies of a conversion, as decimal text, on one day. */
export interface ExchangeRate {
  readonly date: string;
  readonly from: string;
  readonly to: string;
}

/** An amount in minor units of another currency, rounded half to even: exact integers, no floating point on the way. */
export function convert(amount: bigint, from: Currency, to: Currency, rate: ExchangeRate): bigint {
  const source = readDecimal(rate.from);
  const target = readDecimal(rate.to);
  const numerator = amount * target.digits * 10n ** BigInt(currencyExponents[to] + source.scale);
  const denominator = source.digits * 10n ** BigInt(currencyExponents[from] + target.scale);
  return divideHalfEven(numerator, denominator);
}

/** "164.25" is 16425 with a scale of 2. */
function readDecimal(text: string): { digits: bigint; scale: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}
