import { type ApiClientOptions, createApiClient, keyedCreatorOperations } from './api-client.js';
import type { Client } from './generated/client/index.js';

export { keyedCreatorOperations };
export * from './generated/creator/sdk.gen.js';
export type * from './generated/creator/types.gen.js';
export * from './shared-exports.js';
export { followOrders, type FollowOptions, type OrderStreamEvent } from './follow-orders.js';
export { iterateByPage as iterate } from './iterate.js';

/** Returns a client of the Creator API, for its operations: `readOrder({ client, path: { uuid } })`. */
export function createCreatorClient(options: ApiClientOptions): Client {
  return createApiClient(options, keyedCreatorOperations);
}
