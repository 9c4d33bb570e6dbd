import { type ApiClientOptions, createApiClient } from './api-client.js';
import type { Client } from './generated/client/index.js';

export * from './generated/store/sdk.gen.js';
export type * from './generated/store/types.gen.js';
export * from './shared-exports.js';
export { iterateByCursor as iterate } from './iterate.js';

/** Paths of the POST operations that take an `idempotency-key`. */
export const keyedStoreOperations = [
  '/v1/orders',
  '/v1/orders/{id}/cancel',
  '/v1/test/orders/{id}/events',
  '/v1/webhooks',
  '/v1/webhooks/{id}/deliveries/{delivery_id}/retry',
  '/v1/webhooks/{id}/recover',
  '/v1/webhooks/{id}/test',
] as const;

/** Returns a client of the Store API, for its operations: `readOrder({ client, path: { id } })`. */
export function createStoreClient(options: ApiClientOptions): Client {
  return createApiClient(options, keyedStoreOperations);
}
