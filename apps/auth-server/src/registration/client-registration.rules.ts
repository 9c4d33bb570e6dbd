import { visibleCharacter } from '@fulfilment/contracts';

const maxRedirectUris = 10;
const maxUriLength = 2048;
const maxNameLength = 100;
/** In characters. Allows ten URIs of maximum length; no client needs so many in both lists of URIs. */
const maxMetadataLength = 24_576;
/** Members and elements at all levels; valid metadata have fewer. */
const maxMembers = 100;
export const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Grant types of clients that register themselves. */
export const selfRegistrationGrantTypes: readonly string[] = ['authorization_code', 'refresh_token'];
/**
 * Rejected in open registration: rights that only the operator gives, keys, which no supported client
 * authentication uses, and URLs that the server would fetch.
 */
const forbiddenMembers = [
  'first_party',
  'resource_server',
  'verified',
  'jwks',
  'jwks_uri',
  'sector_identifier_uri',
] as const;

/** Metadata of a registration request, not validated yet. */
interface RequestedClient {
  readonly client_name?: unknown;
  readonly redirect_uris?: unknown;
  readonly post_logout_redirect_uris?: unknown;
  readonly grant_types?: unknown;
  readonly [member: string]: unknown;
}

type MetadataProblem = { readonly member: string; readonly reason: string };

/** Returns why an open registration is rejected, or undefined (RFC 7591 §5, RFC 9700 §2.1, RFC 8252 §7). */
export function registrationProblem(client: RequestedClient): MetadataProblem | undefined {
  const forbidden = forbiddenMembers.find((member) => client[member] !== undefined);
  if (forbidden !== undefined) return { member: forbidden, reason: 'cannot be registered' };
  if (client.client_name !== undefined) {
    if (typeof client.client_name !== 'string') return { member: 'client_name', reason: 'must be a string' };
    if ([...client.client_name].length > maxNameLength)
      return { member: 'client_name', reason: `must be at most ${maxNameLength} characters` };
    if (!visibleCharacter.test(client.client_name))
      return { member: 'client_name', reason: 'must not be empty' };
  }
  if (
    Array.isArray(client.grant_types) &&
    client.grant_types.some(
      (grant: unknown) => typeof grant !== 'string' || !selfRegistrationGrantTypes.includes(grant),
    )
  ) {
    return { member: 'grant_types', reason: 'can only contain authorization_code and refresh_token' };
  }
  const { redirect_uris: uris, post_logout_redirect_uris: logoutUris } = client;
  if (uris === undefined || (Array.isArray(uris) && uris.length === 0))
    return { member: 'redirect_uris', reason: 'must contain at least one URI' };
  return urisProblem('redirect_uris', uris) ?? urisProblem('post_logout_redirect_uris', logoutUris);
}

/**
 * Returns the problem of metadata that are too large: anyone can register clients, which are stored.
 * @param sent request body
 */
export function sizeProblem(sent: unknown): MetadataProblem | undefined {
  if (JSON.stringify(sent).length > maxMetadataLength)
    return { member: 'metadata', reason: `must be at most ${maxMetadataLength} characters in total` };
  if (countMembers(sent) > maxMembers)
    return { member: 'metadata', reason: `must have at most ${maxMembers} members and elements` };
  return undefined;
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const member of Object.values(value)) count += 1 + countMembers(member);
  return count;
}

function urisProblem(member: string, uris: unknown): MetadataProblem | undefined {
  if (uris === undefined) return undefined;
  if (!Array.isArray(uris)) return { member, reason: 'must be an array' };
  if (uris.length > maxRedirectUris)
    return { member, reason: `must have at most ${maxRedirectUris} elements` };
  for (const uri of uris) {
    const reason = redirectUriProblem(uri);
    if (reason !== undefined) return { member, reason };
  }
  return undefined;
}

/** Returns why a URI is not allowed as redirect URI; undefined if it is. */
export function redirectUriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return 'must only contain strings';
  if (uri.length > maxUriLength) return `must be at most ${maxUriLength} characters each`;
  if (/[\s\\*]/.test(uri)) return 'must not contain spaces, backslashes or wildcards';
  const parsed = URL.parse(uri);
  if (parsed === null || !hasNormalScheme(uri, parsed)) return 'must only contain valid URIs';
  if (!isPlainHost(parsed)) return 'must have a host of letters, digits, dots and hyphens';
  if (uri.includes('#')) return 'must not contain fragments';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain user information';
  if (parsed.protocol === 'https:') return undefined;
  if (parsed.protocol === 'http:') {
    return loopbackHosts.has(parsed.hostname) ? undefined : 'must use https, except on loopback addresses';
  }
  // RFC 8252 §7.1: a private-use scheme is a domain name in reverse, so it has a dot. `javascript:` and
  // `data:` have none.
  return parsed.protocol.includes('.')
    ? undefined
    : 'must use https, a loopback address or a reverse-domain scheme';
}

/**
 * Whether the host of a web URL has only letters, digits, dots and hyphens, or is an IPv6 address. The URL
 * standard also allows `;`, `,` and quotes, which would change a Content-Security-Policy with the host.
 */
export function isPlainHost({ protocol, hostname }: URL): boolean {
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return !isWeb || /^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(hostname);
}

/**
 * Whether a URI starts with its scheme as a URL parser writes it. For a browser, `HTTPS:/app.example` equals
 * `https://app.example`, but redirect URIs are compared character by character (RFC 9700 §2.1).
 */
function hasNormalScheme(uri: string, { protocol }: URL): boolean {
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return uri.startsWith(isWeb ? `${protocol}//` : protocol);
}

/**
 * Returns the application type, which clients cannot choose: a client with a redirect URI that is not https
 * is native (RFC 8252 §7).
 */
export function applicationType(redirectUris: readonly string[]): 'web' | 'native' {
  return redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native';
}

/** Makes a name safe to show: removes control characters, bidirectional marks and invisible characters. */
export function displayableName(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}
