/** The points in the life of an order at which a crash leaves a different state. */
export const faultPoints = [
  'key-claimed',
  'order-written', // not committed
  'order-placed', // committed, not yet charged
  'charged',
  'next-key-taken', // the next key of the payment provider is stored, not yet sent
  'order-settled-uncommitted',
  'order-settled', // the client has no response yet
  'order-cancelled-uncommitted',
  'order-cancelled', // the client has no response yet
  'refunded', // by the provider, not yet in our tables
] as const;
export type FaultPoint = (typeof faultPoints)[number];

/** Kills the process at a point, so that a test can show that another process continues its work. */
export class FaultPoints {
  constructor(private readonly fatal: FaultPoint | undefined) {}

  /** Kills the process at the configured point, as a power cut would: no handler runs. */
  pass(point: FaultPoint): void {
    if (point === this.fatal) process.kill(process.pid, 'SIGKILL');
  }
}
