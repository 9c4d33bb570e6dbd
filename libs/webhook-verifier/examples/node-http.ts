import {
  isKnownEvent,
  isTestEvent,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '@fulfilment/webhook-verifier';
import { createServer, type IncomingMessage, type Server } from 'node:http';

const maxBytes = 1_000_000; // larger than any event

/**
 * Handles each genuine event except tests and events of unknown types. `handle` must be idempotent: it may
 * run again for the same `event.id`. If it fails, the response is 500 and the event is retried later.
 */
export function webhookServer(
  secrets: readonly string[],
  handle: (event: WebhookEvent) => Promise<void>,
): Server {
  const receive = async (request: IncomingMessage): Promise<number> => {
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    const event = verifyWebhook({ headers: request.headers, body }, { secrets });
    if (isTestEvent(event) || !isKnownEvent(event)) return 204;
    await handle(event);
    return 204;
  };
  return createServer((request, response) => {
    const respond = (status: number) => {
      // A client that sends too much must stop, so its connection is closed.
      const headers = status === 413 ? { connection: 'close' } : {};
      response.writeHead(status, headers).end();
    };
    receive(request)
      .then(respond)
      .catch((error: unknown) => respond(error instanceof WebhookVerificationError ? 400 : 500));
  });
}

/** Returns the raw body; undefined if it has more than `maxBytes`. */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
