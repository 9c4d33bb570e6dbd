import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { jsonResponse, type RenderedResponse } from '@fulfilment/http-service';
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import type { AdapterPayload, Client } from 'oidc-provider';
import { setClientAuthentication } from '../../http/client-quotas.js';
import { isStorableText } from '../../http/storable-text.js';
import { digestsMatch, parsePresentedToken, type PresentedToken } from '../access-tokens/access-tokens.js';
import type { OidcServer } from '../oidc-server.js';

/** The headers of oidc-provider's response. introspection.spec.ts compares the responses of both. */
const responseHeaders = {
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'WWW-Authenticate',
  Vary: 'Origin',
};

const formType = /^application\/x-www-form-urlencoded(; ?charset=utf-8)?$/i;
const printable = /^[\x20-\x7e]+$/;
/** With one of these headers, oidc-provider responds to an introspection in another way. */
const unsupportedHeaders = ['origin', 'oauth-client-attestation', 'oauth-client-attestation-pop'];

/**
 * Returns the response to the introspection of an active access token by a client that sends its secret with
 * HTTP Basic, in less than half of oidc-provider's processor time (ADR 67). Returns undefined for every other
 * request: only oidc-provider rejects requests and reports tokens as inactive.
 */
export async function describeActiveToken(
  oidc: OidcServer,
  request: IncomingMessage,
  form: Buffer | undefined,
): Promise<RenderedResponse | undefined> {
  const { headers } = request;
  if (!formType.test(headers['content-type'] ?? '')) return undefined;
  if (unsupportedHeaders.some((name) => headers[name] !== undefined)) return undefined;
  const credentials = basicCredentials(headers.authorization);
  const presented = presentedToken(form);
  if (credentials === undefined || presented === undefined) return undefined;
  try {
    const client = await authorizedClient(oidc, credentials, presented);
    if (client === undefined) return undefined;
    setClientAuthentication(request, { clientId: client.clientId });
    return activeTokenResponse(presented);
  } catch (error) {
    if (error instanceof DependencyUnavailable) throw error;
    return undefined; // oidc-provider gets the same error, logs it and responds
  }
}

/** Returns the client, if the secret is its own, and the token is active and visible to it. */
async function authorizedClient(
  oidc: OidcServer,
  credentials: ClientCredentials,
  { claims, digest }: PresentedToken,
): Promise<Client | undefined> {
  const [client, stored] = await Promise.all([
    oidc.provider.Client.find(credentials.id),
    oidc.storedRows.findAccessToken(claims.jti),
  ]);
  if (client === undefined || !(await isSecretOf(client, credentials.secret))) return undefined;
  if (client.resource_server !== true && client.clientId !== claims.client_id) return undefined;
  // Only a token that we issued has the digest of a row, so its claims can be trusted.
  if (stored === undefined || !digestsMatch(stored.token['digest'], digest)) return undefined;
  if (!isUnexpired(stored.token) || !isUnexpired(stored.grant)) return undefined;
  if (stored.grant?.clientId !== claims.client_id || stored.grant.accountId !== claims.sub) return undefined;
  return client;
}

function activeTokenResponse({ claims: { scope, ...claims } }: PresentedToken): RenderedResponse {
  return jsonResponse(200, responseHeaders, {
    active: true,
    ...claims,
    ...(scope === '' ? {} : { scope }),
    token_type: 'Bearer',
  });
}

/** Returns the token of a form with one access token and no DPoP key; undefined for any other form. */
function presentedToken(form: Buffer | undefined): PresentedToken | undefined {
  if (form === undefined) return undefined;
  const { token, token_type_hint: hint, ...others } = parse(form.toString());
  if (typeof token !== 'string' || Array.isArray(hint) || Object.keys(others).length > 0) return undefined;
  const presented = parsePresentedToken(token);
  if (presented === undefined || presented.claims.cnf !== undefined) return undefined;
  return isStorableText(presented.claims.jti) ? presented : undefined;
}

interface ClientCredentials {
  readonly id: string;
  readonly secret: string;
}

/** The client's id and secret (RFC 6749 §2.3.1) in their usual encoding, of printable ASCII only. */
function basicCredentials(header: string | undefined): ClientCredentials | undefined {
  if (header?.startsWith('Basic ') !== true) return undefined;
  const encoded = header.slice('Basic '.length);
  const decoded = Buffer.from(encoded, 'base64');
  if (decoded.toString('base64') !== encoded) return undefined;
  const [id = '', secret = '', ...others] = decoded.toString().split(':');
  if (others.length > 0) return undefined;
  try {
    const credentials = { id: decodeForm(id), secret: decodeForm(secret) };
    return printable.test(credentials.id) && printable.test(credentials.secret) ? credentials : undefined;
  } catch {
    return undefined;
  }
}

function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

async function isSecretOf(client: Client, secret: string): Promise<boolean> {
  const { clientAuthMethod: method, clientSecretExpiresAt: expiresAt = 0 } = client;
  if ((method !== 'client_secret_basic' && method !== 'client_secret_post') || expiresAt !== 0) return false;
  return client.compareClientSecret(secret);
}

function isUnexpired(payload: AdapterPayload | null): boolean {
  return payload?.exp !== undefined && payload.exp * 1000 > Date.now();
}
