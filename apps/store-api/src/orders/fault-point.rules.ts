/** The points of placing, charging and refunding an order at which a crash leaves a different state. */
export const faultPoints = [
  'key-claimed',
  'order-written', // not committed
  'order-placed',
  'charged',
  'next-key-taken', // written, not yet sent
  'order-settled-uncommitted',
  'order-settled', // the client has no response yet
  'refunded', // by the provider, not yet in our tables
] as const;
export type FaultPoint = (typeof faultPoints)[number];
