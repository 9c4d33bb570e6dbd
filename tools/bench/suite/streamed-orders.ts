import { type Client, followOrders } from '@fulfilment/client/creator';
import { parsePublicId } from '@fulfilment/contracts';
import { eventually } from '../../dev/eventually.ts';
import { Failure, reasonOf } from '../../dev/failure.ts';
import type { PlacedOrder } from './integration.ts';

const timeoutMs = 60_000;
const pollIntervalMs = 50;

/** The arrival times of a creator's new orders in the stream of the Creator API. */
export type StreamedOrders = Awaited<ReturnType<typeof openOrderStream>>;

/** Resolves when the stream is open. */
export async function openOrderStream(client: Client, creator: string) {
  const arrivedAtMs = new Map<string, number>();
  const end = new AbortController();
  const opened = Promise.withResolvers<void>();
  let failure = '';
  const read = async (): Promise<void> => {
    for await (const event of followOrders({ client, creator, signal: end.signal })) {
      if (event.event === 'order.created')
        arrivedAtMs.set(event.order.uuid, performance.timeOrigin + performance.now());
      else opened.resolve(); // `open` or `reset`
    }
  };
  const reading = read();
  reading.catch((error: unknown) => void (failure = reasonOf(error)));
  await Promise.race([opened.promise, reading]);
  const arrival = ({ id }: PlacedOrder) => arrivedAtMs.get(parsePublicId('ord', id) ?? '');
  return {
    /** Returns the ms from each order's response to its event, when all have arrived. @throws Failure */
    delaysMs: async (orders: readonly PlacedOrder[]): Promise<number[]> => {
      const haveArrived = (): boolean => {
        if (failure !== '') throw new Failure(failure);
        return orders.every((order) => arrival(order) !== undefined);
      };
      await eventually(haveArrived, timeoutMs, 'all orders have arrived in the stream', pollIntervalMs);
      return orders.map((order) => (arrival(order) ?? Number.NaN) - order.respondedAtMs);
    },
    close: (): void => end.abort(),
  };
}
