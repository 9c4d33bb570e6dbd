/** The secret of the subscription whose deliveries go to this path. */
export function subscriptionSecret(path: string): string {
  return `whsec_bench_${path}`;
}
