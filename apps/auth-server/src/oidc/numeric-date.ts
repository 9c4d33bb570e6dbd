/** A moment as sessions and tokens tell it: in whole seconds since 1970 (RFC 7519 §2). */
export function numericDate(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
