import { isKnownEvent, verifyWebhook, type WebhookEvent, WebhookRefused } from '@fulfilment/webhook-verifier';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';

const mostBytes = 1_000_000;

/** Hands on each genuine event. What `handle` throws is answered with 500, and the event is sent again later. */
export function webhookServer(
  secrets: readonly string[],
  handle: (event: WebhookEvent) => Promise<void>,
): Server {
  return createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    if (!(Number(request.headers['content-length']) <= mostBytes)) return answer(413);
    buffer(request)
      .then(async (body) => {
        const event = verifyWebhook({ headers: request.headers, body }, { secrets });
        if (isKnownEvent(event)) await handle(event); // once for each event.id: it may come again
        answer(204);
      })
      .catch((error: unknown) => answer(error instanceof WebhookRefused ? 400 : 500));
  });
}
