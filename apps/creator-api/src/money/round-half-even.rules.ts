/** Returns numerator / denominator, rounded half to even. @param denominator above 0 */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator; // towards zero
  const twiceRemainder = 2n * (numerator - quotient * denominator);
  const twiceDistance = twiceRemainder < 0n ? -twiceRemainder : twiceRemainder;
  const isEven = quotient % 2n === 0n;
  if (twiceDistance < denominator || (twiceDistance === denominator && isEven)) return quotient;
  return numerator < 0n ? quotient - 1n : quotient + 1n;
}
