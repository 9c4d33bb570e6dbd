import {
  type ReceivedEvent,
  type WebhookVerificationErrorCode,
  verifyWebhook,
  WebhookVerificationError,
} from '@fulfilment/webhook-verifier';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Failure } from '../dev/failure.ts';

/** A request to the receiver, and what the verifier says of it. */
export interface Arrival {
  readonly at: Date;
  readonly headers: IncomingHttpHeaders;
  readonly verdict: { readonly event: ReceivedEvent } | { readonly error: WebhookVerificationErrorCode };
}

export interface PlannedResponse {
  readonly status: number;
  readonly delayMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * A webhook endpoint on this machine. It reports each request before it responds.
 * @param port 0 takes a free one
 * @throws Failure when the port is taken
 */
export async function openReceiver(options: {
  readonly secret: string;
  readonly port: number;
  /** The address to listen on; by default only this machine can connect. */
  readonly host?: string;
  readonly respond: (arrival: Arrival) => PlannedResponse;
}): Promise<Receiver> {
  const { secret, port, respond, host = '127.0.0.1' } = options;
  const waiting = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    buffer(request).then(
      (body) => {
        const { headers } = request;
        const { status, delayMs } = respond({
          at: new Date(),
          headers,
          verdict: verdictOn(headers, body, secret),
        });
        const timer = setTimeout(() => {
          waiting.delete(timer);
          response.writeHead(status).end();
        }, delayMs);
        waiting.add(timer);
      },
      () => response.destroy(), // the sender went away
    );
  });
  return {
    url: `http://127.0.0.1:${await listenOn(server, port, host)}/webhooks`,
    stop: () =>
      new Promise((resolve) => {
        for (const timer of waiting) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function verdictOn(headers: IncomingHttpHeaders, body: Buffer, secret: string): Arrival['verdict'] {
  try {
    return { event: verifyWebhook({ headers, body }, { secrets: [secret] }) };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { error: error.code };
    throw error;
  }
}

/** Resolves with the port. */
function listenOn(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Failure(whyNot(error, port))));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function whyNot(error: Error, port: number): string {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  return taken ? `Another program uses port ${port}.` : `Cannot listen on port ${port}: ${error.message}`;
}
