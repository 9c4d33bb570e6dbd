import { type Client, followOrders } from '@fulfilment/client/creator';
import { parsePublicId } from '@fulfilment/contracts';
import { eventually } from '../../dev/eventually.ts';
import { Failure, reasonOf } from '../../dev/failure.ts';
import type { PlacedOrder } from './integration.ts';

const timeoutMs = 60_000;

/** The arrival times of a creator's new orders in the stream of the Creator API. */
export class StreamedOrders {
  private readonly arrivedAtMs = new Map<string, number>();
  private readonly end = new AbortController();
  private failure = '';

  /** Resolves when the stream is open. */
  static async open(client: Client, creator: string): Promise<StreamedOrders> {
    const orders = new StreamedOrders();
    const opening = Promise.withResolvers<void>();
    const reading = orders.read(client, creator, opening.resolve);
    reading.catch((error: unknown) => void (orders.failure = reasonOf(error)));
    await Promise.race([opening.promise, reading]);
    return orders;
  }

  private async read(client: Client, creator: string, opened: () => void): Promise<void> {
    for await (const event of followOrders({ client, creator, signal: this.end.signal })) {
      if (event.event === 'order.created')
        this.arrivedAtMs.set(event.order.uuid, performance.timeOrigin + performance.now());
      else opened();
    }
  }

  /** Returns the ms from the response to each order to its event, once all have arrived. @throws Failure */
  async delaysMs(orders: readonly PlacedOrder[]): Promise<number[]> {
    const arrival = ({ id }: PlacedOrder) => this.arrivedAtMs.get(parsePublicId('ord', id) ?? '');
    const haveArrived = (): boolean => {
      if (this.failure !== '') throw new Failure(this.failure);
      return orders.every((order) => arrival(order) !== undefined);
    };
    await eventually(haveArrived, timeoutMs, 'all orders have arrived in the stream', 50);
    return orders.map((order) => (arrival(order) ?? Number.NaN) - order.respondedAtMs);
  }

  close(): void {
    this.end.abort();
  }
}
