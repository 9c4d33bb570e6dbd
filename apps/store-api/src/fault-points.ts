/** Points in the life of an order. A crash at each of them leaves a different state. */
export const faultPoints = [
  'key-claimed',
  'order-written', // not committed
  'order-placed', // committed, not yet charged
  'charged', // the provider's result is not stored yet
  'next-key-taken', // the next idempotency key for Stripe is stored, but no request has used it
  'order-settled-uncommitted',
  'order-settled', // the client has no response yet
  'order-cancelled-uncommitted',
  'order-cancelled', // the client has no response yet
  'refunded', // by the provider, not yet in our tables
] as const;
export type FaultPoint = (typeof faultPoints)[number];

/** Kills the process at one point, so that a test can show that another process continues its work. */
export class FaultPoints {
  /** @param fatalPoint undefined outside of tests */
  constructor(private readonly fatalPoint: FaultPoint | undefined) {}

  /** Called at each point. At the fatal one, ends the process like a power cut: no shutdown handler runs. */
  pass(point: FaultPoint): void {
    if (point === this.fatalPoint) process.kill(process.pid, 'SIGKILL');
  }
}
