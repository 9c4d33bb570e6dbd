import { type ApiClientOptions, createApiClient } from './api-client.js';
import type { Client } from './generated/client/index.js';

export * from './generated/creator/sdk.gen.js';
export type * from './generated/creator/types.gen.js';
export * from './shared-exports.js';
export { followOrders, type FollowOptions, type OrderStreamEvent } from './follow-orders.js';
export { iterateByPage as iterate } from './iterate.js';

/** Paths of the POST operations that take an `idempotency-key`. */
export const keyedCreatorOperations = ['/api/v1/releases'] as const;

/** Returns a client of the Creator API, for its operations: `readOrder({ client, path: { uuid } })`. */
export function createCreatorClient(options: ApiClientOptions): Client {
  return createApiClient(options, keyedCreatorOperations);
}
