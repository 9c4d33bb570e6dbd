/** Whether a secret or restricted key moves no real money (https://docs.stripe.com/keys). */
export function isTestKey(secretKey: string): boolean {
  return /^(sk|rk)_test_/.test(secretKey);
}
