import { callerAddress, type RateLimiter } from '@fulfilment/http-service';
import { Attached } from '@fulfilment/runtime';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { type AuthQuota, takeFromQuota } from './quotas.js';

/** Bounds the memory. The next request of a client whose entry was evicted counts for its network. */
const maxKnownClients = 10_000;
const knownClientTtlMs = 600_000;
/** Paths at which clients authenticate, below the mount path. */
export const clientEndpoints = /^\/oauth2\/(token|introspect|revoke|par)$/;

type ClientAuthentication = { readonly clientId: string } | 'rejected';

/**
 * The result of the client authentication of a request: set by oidc/clients/client-authentication.ts while
 * oidc-provider handles it, read by `updateKnownClients`.
 */
const authentications = new Attached<ClientAuthentication>();

export function setClientAuthentication(request: object, result: ClientAuthentication): void {
  authentications.set(request, result);
}

export function isClientEndpoint(method: string | undefined, path: string): boolean {
  return method === 'POST' && clientEndpoints.test(path);
}

/**
 * Quotas of the endpoints at which clients authenticate. A request whose credentials were accepted within the
 * last ten minutes counts for its client, since a platform refreshes the tokens of thousands of creators from
 * one address. Every other request counts for its network, so that public clients and guesses at a secret get
 * no extra quota by naming a client.
 */
export class ClientQuotas {
  /** Client ids by the hash of their credentials. */
  private readonly knownClients = new LRUCache<string, string>({
    max: maxKnownClients,
    ttl: knownClientTtlMs,
  });
  /** Hash of the credentials that a request has sent. */
  private readonly sentCredentials = new Attached<string>();

  constructor(private readonly limiter: RateLimiter<AuthQuota>) {}

  /**
   * Takes a request from its quota, before it is handled.
   * @param form the body, if it is a form
   * @throws RateLimited
   */
  async take(quota: AuthQuota, request: IncomingMessage, form: Buffer | undefined): Promise<void> {
    const credentials = credentialsHash(request, form);
    if (credentials !== undefined) this.sentCredentials.set(request, credentials);
    const clientId = credentials === undefined ? undefined : this.knownClients.get(credentials);
    await takeFromQuota(this.limiter, quota, request, clientId);
  }

  /** Remembers the credentials of a handled request if they were accepted, and removes rejected ones. */
  async updateKnownClients(quota: AuthQuota, request: IncomingMessage): Promise<void> {
    const credentials = this.sentCredentials.get(request);
    const authentication = authentications.get(request);
    if (credentials === undefined || authentication === undefined) return;
    if (authentication !== 'rejected') {
      this.knownClients.set(credentials, authentication.clientId);
      return;
    }
    // If they were remembered, the secret was replaced or the client deleted since. The request was counted
    // for the client; now it counts for the network too.
    if (this.knownClients.delete(credentials))
      await this.limiter.takeByAddress(quota, callerAddress(request));
  }
}

/** Hashes the client credentials of a header or form (RFC 6749 §2.3.1); undefined without a secret. */
function credentialsHash({ headers }: IncomingMessage, form: Buffer | undefined): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) return hash('sha256', `basic ${authorization}`, 'base64');
  if (form?.includes('client_secret=') !== true) return undefined;
  const { client_id: id, client_secret: secret } = parse(form.toString());
  if (typeof secret !== 'string' || secret === '') return undefined;
  return hash('sha256', JSON.stringify([id, secret]), 'base64');
}
