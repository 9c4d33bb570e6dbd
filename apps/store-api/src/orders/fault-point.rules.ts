/** The lines of placing, charging and refunding an order between which a death leaves something different behind. */
export const faultPoints = [
  'key-claimed',
  'order-written', // not committed
  'order-placed',
  'charged',
  'next-key-taken', // written, not used
  'order-settled-uncommitted',
  'order-settled', // not answered
  'refunded', // the provider knows, the order does not
] as const;
export type FaultPoint = (typeof faultPoints)[number];
