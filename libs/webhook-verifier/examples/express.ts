import {
  isKnownEvent,
  isTestEvent,
  verifyWebhook,
  type WebhookEvent,
  WebhookRefused,
} from '@fulfilment/webhook-verifier';
import express, { type Express, type Request, raw } from 'express';

/** The same in Express. `raw` keeps the bytes as they came; `express.json()` before it would leave none to verify. */
export function webhookApp(
  secrets: readonly string[],
  handle: (event: WebhookEvent) => Promise<void>,
): Express {
  const app = express();
  app.post(
    '/webhooks',
    raw({ type: () => true }),
    async (request: Request<object, unknown, Buffer>, response) => {
      try {
        const event = verifyWebhook({ headers: request.headers, body: request.body }, { secrets });
        const isToBeHandled = isKnownEvent(event) && !isTestEvent(event);
        if (isToBeHandled) await handle(event); // once for each event.id: it may come again
        response.sendStatus(204);
      } catch (error) {
        response.sendStatus(error instanceof WebhookRefused ? 400 : 500);
      }
    },
  );
  return app;
}
