import {
  type ReceivedEvent,
  type WebhookVerificationErrorCode,
  verifyWebhook,
  WebhookVerificationError,
} from '@fulfilment/webhook-verifier';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Failure } from '../dev/failure.ts';

/** A request to the receiver, with the result of its verification. */
export interface Arrival {
  readonly at: Date;
  readonly headers: IncomingHttpHeaders;
  readonly verification: { readonly event: ReceivedEvent } | { readonly error: WebhookVerificationErrorCode };
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
 * Starts a webhook endpoint on this machine.
 * @param options.port 0 takes a free one
 * @param options.respond called with each request before its response
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
          verification: verify(headers, body, secret),
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

function verify(headers: IncomingHttpHeaders, body: Buffer, secret: string): Arrival['verification'] {
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
    server.once('error', (error) => reject(listenFailure(error, port)));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function listenFailure(error: Error, port: number): Failure {
  if ('code' in error && error.code === 'EADDRINUSE')
    return new Failure(`Another program uses port ${port}.`);
  return new Failure(`Cannot listen on port ${port}: ${error.message}`);
}
