import type { ReceivedEvent } from '@fulfilment/webhook-verifier';
import { Failure } from '../dev/failure.ts';
import { openReceiver } from '../listen/receiver.ts';

export interface ShopReceiver {
  readonly url: string;
  /**
   * Returns the verified event about this order, if received.
   * @throws Failure when a delivery was not genuine
   */
  find(event: string, orderId: string): ReceivedEvent | undefined;
  readonly stop: () => Promise<void>;
}

/** The webhook endpoint of the app. Stores verified events. */
export async function openShopReceiver(secret: string): Promise<ShopReceiver> {
  const port = Number(process.env.DEMO_RECEIVER_PORT ?? 0);
  const events: ReceivedEvent[] = [];
  const errors: string[] = [];
  const { url, stop } = await openReceiver({
    secret,
    port,
    host: port === 0 ? '127.0.0.1' : '0.0.0.0', // a given port is for deliveries from containers
    respond: ({ verdict }) => {
      if ('event' in verdict) events.push(verdict.event);
      else errors.push(verdict.error);
      return { status: 'event' in verdict ? 204 : 400, delayMs: 0 };
    },
  });
  return {
    url,
    find: (event, orderId) => {
      const [error] = errors;
      if (error !== undefined) throw new Failure(`A delivery could not be verified: ${error}.`);
      return events.find((one) => one.event === event && one.data['order_id'] === orderId);
    },
    stop,
  };
}
