import {
  isKnownEvent,
  isTestEvent,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '@fulfilment/webhook-verifier';
import express, { type Express, type Request, raw } from 'express';

const maxBytes = 1_000_000; // larger than any event

/**
 * Handles each genuine event except tests and events of unknown types, in Express. `raw` keeps the received
 * bytes; a preceding `express.json()` would consume them.
 */
export function webhookApp(
  secrets: readonly string[],
  handle: (event: WebhookEvent) => Promise<void>,
): Express {
  const app = express();
  app.post(
    '/webhooks',
    raw({ type: () => true, limit: maxBytes }),
    async (request: Request<object, unknown, Buffer>, response) => {
      try {
        const event = verifyWebhook({ headers: request.headers, body: request.body }, { secrets });
        const shouldHandle = isKnownEvent(event) && !isTestEvent(event);
        if (shouldHandle) await handle(event); // must be idempotent: may run again for the same event.id
        response.sendStatus(204);
      } catch (error) {
        response.sendStatus(error instanceof WebhookVerificationError ? 400 : 500);
      }
    },
  );
  return app;
}
