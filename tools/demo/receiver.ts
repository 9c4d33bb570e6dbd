import type { ReceivedEvent } from '@fulfilment/webhook-verifier';
import { eventually } from '../dev/eventually.ts';
import { Failure } from '../dev/failure.ts';
import { openReceiver } from '../listen/receiver.ts';

const arrivalTimeoutMs = 30_000;

export type ShopReceiver = Awaited<ReturnType<typeof openShopReceiver>>;

/** Starts the webhook endpoint of the app, which stores verified events. */
export async function openShopReceiver(secret: string) {
  const port = Number(process.env.DEMO_RECEIVER_PORT ?? 0);
  const events: ReceivedEvent[] = [];
  const errors: string[] = [];
  const { url, stop } = await openReceiver({
    secret,
    port,
    host: port === 0 ? '127.0.0.1' : '0.0.0.0', // a given port is for deliveries from containers
    respond: ({ verification }) => {
      if ('event' in verification) events.push(verification.event);
      else errors.push(verification.error);
      return { status: 'event' in verification ? 204 : 400, delayMs: 0 };
    },
  });
  return {
    url,
    /**
     * Waits for the verified event about this order.
     * @throws Failure if it does not arrive, or a delivery cannot be verified
     */
    receive: async (event: string, orderId: string): Promise<ReceivedEvent> => {
      // An error ends the wait, too.
      const received = await eventually(
        () =>
          errors[0] ?? events.find(({ event: name, data }) => name === event && data['order_id'] === orderId),
        arrivalTimeoutMs,
        `${event} is received`,
      );
      if (typeof received !== 'string') return received;
      throw new Failure(`A delivery could not be verified: ${received}.`);
    },
    stop,
  };
}
