/** The exports that both APIs have. */
export type { Client } from './generated/client/index.js';
export type { ApiClientOptions } from './api-client.js';
export {
  ApiError,
  type ApiErrorCode,
  ConnectionError,
  type ErrorDetail,
  SignInRequiredError,
} from './errors.js';
export { memoryTokenStore, Session, type SessionOptions, type Tokens, type TokenStore } from './session.js';
export type { TokenSource } from './transport.js';
