import {
  isKnownEvent,
  isTestEvent,
  verifyWebhook,
  type WebhookEvent,
  WebhookRefused,
} from '@fulfilment/webhook-verifier';
import { createServer, type IncomingMessage, type Server } from 'node:http';

const mostBytes = 1_000_000;

/** Hands on each genuine event that is no test. What `handle` throws is answered with 500, and the event is sent again later. */
export function webhookServer(
  secrets: readonly string[],
  handle: (event: WebhookEvent) => Promise<void>,
): Server {
  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    const event = verifyWebhook({ headers: request.headers, body }, { secrets });
    if (isTestEvent(event) || !isKnownEvent(event)) return 204;
    await handle(event); // once for each event.id: it may come again
    return 204;
  };
  return createServer((request, response) => {
    const answer = (status: number) =>
      response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end();
    receive(request)
      .then(answer)
      .catch((error: unknown) => answer(error instanceof WebhookRefused ? 400 : 500));
  });
}

/** The bytes as they came; undefined when they are more than any event has. */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
