import { type Client, createClient } from './generated/client/index.js';
import { ApiError, ConnectionError } from './errors.js';
import { createTransport, type TransportOptions } from './transport.js';

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
export const keyedCreatorOperations = ['/api/v1/releases'] as const;

export interface ApiClientOptions extends TransportOptions {
  /** The address of the API, e.g. `https://localhost:8443/store`. */
  readonly baseUrl: string;
}

/**
 * Creates the client of an API. Each request gets an `x-request-id`, unless the caller sends one.
 * @param keyedPaths paths of the POST operations that take an `idempotency-key`. They get a random one,
 *   unless the caller sends one, so that they can be retried.
 */
export function createApiClient(options: ApiClientOptions, keyedPaths: readonly string[]): Client {
  const send = createTransport(options);
  const client = createClient({
    baseUrl: options.baseUrl.replace(/\/$/, ''),
    throwOnError: true,
    fetch: (request) => send(request instanceof Request ? request : new Request(request)),
  });
  client.interceptors.request.use((request, { url }) => {
    setDefaultUuid(request, 'x-request-id');
    if (request.method === 'POST' && keyedPaths.includes(url)) setDefaultUuid(request, 'idempotency-key');
    return request;
  });
  client.interceptors.error.use((error, response, request) => {
    const isAborted = request?.signal.aborted === true && error === request.signal.reason;
    // A body that broke off, or whose reader has aborted, is no response of the API.
    if (response === undefined || error instanceof ConnectionError || isAborted) return error;
    return new ApiError(response, error, request?.headers.get('x-request-id') ?? undefined);
  });
  return client;
}

function setDefaultUuid({ headers }: Request, name: string): void {
  if (!headers.has(name)) headers.set(name, crypto.randomUUID());
}
