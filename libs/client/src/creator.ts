import { type ApiClientOptions, createApiClient } from './core/api-client.js';
import type { Client } from './generated/client/index.js';

export * from './generated/creator/sdk.gen.js';
export type * from './generated/creator/types.gen.js';
export type { Client } from './generated/client/index.js';
export type { ApiClientOptions } from './core/api-client.js';
export {
  ApiError,
  type ApiErrorCode,
  ConnectionError,
  type ErrorDetail,
  SignInRequiredError,
} from './core/errors.js';
export { iterateByPage as iterate } from './core/iterate.js';
export {
  memoryTokenStore,
  Session,
  type SessionOptions,
  type Tokens,
  type TokenStore,
} from './core/session.js';
export type { TokenSource } from './core/token-source.js';

/** Paths of the POST operations that have an `idempotency-key`. */
export const keyedCreatorOperations = ['/api/v1/releases'] as const;

/** A client of the Creator API, for its operations: `readOrder({ client, path: { uuid } })`. */
export function createCreatorClient(options: ApiClientOptions): Client {
  return createApiClient(options, keyedCreatorOperations);
}
