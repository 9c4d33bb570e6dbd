import { listen } from '@fulfilment/testing/listen';
import {
  type ReceivedEvent,
  type WebhookVerificationErrorCode,
  verifyWebhook,
  WebhookVerificationError,
} from '@fulfilment/webhook-verifier';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Failure, reasonOf } from '../dev/failure.ts';

/** A request to the receiver, with the result of its verification. */
export interface ReceivedRequest {
  readonly at: Date;
  readonly headers: IncomingHttpHeaders;
  readonly verification: { readonly event: ReceivedEvent } | { readonly error: WebhookVerificationErrorCode };
}

export interface PlannedResponse {
  readonly status: number;
  readonly delayMs: number;
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/**
 * Starts a webhook endpoint on this machine.
 * @param options.port 0 takes a free one
 * @param options.respond called with each request before its response; if it throws, the response is 500
 * @throws Failure when the port is taken
 */
export async function openReceiver(options: {
  readonly secret: string;
  readonly port: number;
  /** The address to listen on; by default only this machine can connect. */
  readonly host?: string;
  readonly respond: (request: ReceivedRequest) => PlannedResponse;
}) {
  const { secret, port, respond, host } = options;
  const waiting = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    const receive = (body: Buffer): void => {
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
    };
    buffer(request)
      .then(receive, () => response.destroy()) // the sender went away
      .catch((error: unknown) => {
        console.error(reasonOf(error));
        response.writeHead(500).end();
      });
  });
  const listening = await listen(server, port, host).catch((error: Error) => {
    throw listenFailure(error, port);
  });
  return {
    url: `http://127.0.0.1:${listening.port}/webhooks`,
    stop: (): Promise<void> => {
      for (const timer of waiting) clearTimeout(timer);
      return listening.close();
    },
  };
}

function verify(headers: IncomingHttpHeaders, body: Buffer, secret: string): ReceivedRequest['verification'] {
  try {
    return { event: verifyWebhook({ headers, body }, { secrets: [secret] }) };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { error: error.code };
    throw error;
  }
}

function listenFailure(error: Error, port: number): Failure {
  if ('code' in error && error.code === 'EADDRINUSE')
    return new Failure(`Another program uses port ${port}.`);
  return new Failure(`Cannot listen on port ${port}: ${error.message}`);
}
