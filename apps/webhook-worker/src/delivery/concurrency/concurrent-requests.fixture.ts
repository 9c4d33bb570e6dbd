import type { WebhookReceiver } from '@fulfilment/testing';

/**
 * Makes the receiver respond after a delay. Returns a getter of the maximum number of concurrent requests.
 */
export function countConcurrentRequests(
  receiver: WebhookReceiver,
  { statusCode = 204, delayMs = 20 } = {},
): () => number {
  let [running, maxRunning] = [0, 0];
  receiver.respondWith((response) => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    setTimeout(() => {
      running -= 1;
      response.writeHead(statusCode).end();
    }, delayMs);
  });
  return () => maxRunning;
}
