import { Failure } from '../../dev/failure.ts';
import type { Received } from '../webhooks/receiver-process.ts';
import type { PlacedOrder } from './integration.ts';

/**
 * Returns the ms from the response of each order to the first byte of its webhook.
 * @throws Failure unless each order has exactly one delivery with a valid signature, and there are no others
 */
export function delaysOfWebhooks(
  orders: readonly PlacedOrder[],
  received: readonly Pick<Received, 'signed' | 'envelope' | 'arrivedAtMs'>[],
): number[] {
  const signed = received.filter((delivery) => delivery.signed);
  const arrivals = new Map(signed.map(({ envelope, arrivedAtMs }) => [envelope.data.order_id, arrivedAtMs]));
  const delaysMs = orders.flatMap(({ id, respondedAtMs }) => {
    const arrivedAtMs = arrivals.get(id);
    return arrivedAtMs === undefined ? [] : [arrivedAtMs - respondedAtMs];
  });
  if (received.length !== orders.length || delaysMs.length !== orders.length) {
    const missing = orders.length - delaysMs.length;
    const counts = { orders: orders.length, received: received.length, signed: signed.length, missing };
    throw new Failure(`Not every order has one signed delivery: ${JSON.stringify(counts)}`);
  }
  return delaysMs;
}
