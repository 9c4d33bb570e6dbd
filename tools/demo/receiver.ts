import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';

const toleranceSeconds = 300;
const envelope = z.object({
  id: z.string(),
  event: z.string(),
  data: z.looseObject({ order_id: z.string().optional() }),
});

export interface VerifiedDelivery {
  readonly id: string;
  readonly event: string;
  readonly orderId: string | undefined;
  readonly signatureHolds: boolean;
}

export interface Receiver {
  readonly url: string;
  find(event: string, orderId: string): VerifiedDelivery | undefined;
  stop(): Promise<void>;
}

/** The app's own webhook endpoint: checks each signature from the raw bytes before it reads anything. */
export async function openReceiver(secret: string): Promise<Receiver> {
  const deliveries: VerifiedDelivery[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((raw) => {
      const header = request.headers['x-service-signature'];
      const { id, event, data } = envelope.parse(JSON.parse(raw.toString()));
      deliveries.push({
        id,
        event,
        orderId: data.order_id,
        signatureHolds: typeof header === 'string' && signatureHolds(header, raw, secret),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    find: (event, orderId) =>
      deliveries.find((delivery) => delivery.event === event && delivery.orderId === orderId),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** HMAC-SHA256 of `<t>.<raw body>`, compared in constant time, not older than the tolerance. */
function signatureHolds(header: string, raw: Buffer, secret: string): boolean {
  const [, timestamp = '', given = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(raw).digest();
  const received = Buffer.from(given, 'hex');
  const fresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
  return fresh && received.length === expected.length && timingSafeEqual(received, expected);
}
