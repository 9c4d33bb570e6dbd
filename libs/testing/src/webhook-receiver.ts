import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { eventually } from './eventually.js';
import { listen } from './listen.js';

const envelope = z.object({
  id: z.string(),
  api_version: z.string(),
  created_at: z.string(),
  event: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export interface ReceivedDelivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  readonly body: z.infer<typeof envelope>;
}

type Respond = (response: ServerResponse, delivery: ReceivedDelivery) => void;

export type WebhookReceiver = Awaited<ReturnType<typeof webhookReceiver>>;

/** Starts the server of a subscriber, which records the deliveries that it receives. */
export async function webhookReceiver() {
  const deliveries: ReceivedDelivery[] = [];
  let respond: Respond = (response) => response.writeHead(204).end();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks);
      const delivery = {
        path: request.url ?? '/',
        headers: request.headers,
        rawBody,
        body: envelope.parse(JSON.parse(rawBody.toString())),
      };
      deliveries.push(delivery);
      respond(response, delivery);
    });
  });
  const { port, close } = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    /** Sets the response to all further deliveries; initially 204. */
    respondWith: (next: Respond): void => {
      respond = next;
    },
    /** Resolves with the first `count` deliveries when they have arrived. */
    waitFor: (count: number, timeoutMs = 60_000): Promise<readonly ReceivedDelivery[]> =>
      eventually(() => (deliveries.length >= count ? deliveries.slice(0, count) : undefined), {
        timeoutMs,
        describe: () => `${deliveries.length} of ${count} deliveries arrived`,
      }),
    stop: close,
  };
}
