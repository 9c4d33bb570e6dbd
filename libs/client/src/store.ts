import { type ApiClientOptions, createApiClient, keyedStoreOperations } from './api-client.js';
import type { Client } from './generated/client/index.js';

export { keyedStoreOperations };
export * from './generated/store/sdk.gen.js';
export type * from './generated/store/types.gen.js';
export * from './shared-exports.js';
export { iterateByCursor as iterate } from './iterate.js';

/** Returns a client of the Store API, for its operations: `readOrder({ client, path: { id } })`. */
export function createStoreClient(options: ApiClientOptions): Client {
  return createApiClient(options, keyedStoreOperations);
}
