const maxRedirectUris = 10;
const maxUriLength = 2048;
const maxNameLength = 100;
/** Room for all addresses at their full length would be twice as much; no client needs it. */
const maxMetadataLength = 24_576;
const maxMembers = 100;
const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** What a client that registers itself may be given tokens for. */
export const openGrants: readonly string[] = ['authorization_code', 'refresh_token'];
/** Refused on open registration: each makes us fetch what a stranger names, or gives a client what only the operator may give. */
const operatorOnly = [
  'first_party',
  'resource_server',
  'verified',
  'jwks',
  'jwks_uri',
  'sector_identifier_uri',
] as const;

/** What a client asks to be; the members that decide. */
export interface RequestedClient {
  readonly client_name?: unknown;
  readonly redirect_uris?: unknown;
  readonly post_logout_redirect_uris?: unknown;
  readonly grant_types?: unknown;
  readonly [member: string]: unknown;
}

export type Refusal = { readonly member: string; readonly reason: string };

/** Why a stranger's registration is refused, or undefined (RFC 7591 §5, RFC 9700 §2.1, RFC 8252 §7). */
export function registrationRefusal(client: RequestedClient): Refusal | undefined {
  const forbidden = operatorOnly.find((member) => client[member] !== undefined);
  if (forbidden !== undefined) return { member: forbidden, reason: 'is not open to registration' };
  if (client.client_name !== undefined) {
    if (typeof client.client_name !== 'string') return { member: 'client_name', reason: 'must be a string' };
    if ([...client.client_name].length > maxNameLength)
      return { member: 'client_name', reason: `must be at most ${maxNameLength} characters` };
  }
  if (Array.isArray(client.grant_types) && client.grant_types.some((grant: unknown) => !isOpenGrant(grant))) {
    return { member: 'grant_types', reason: 'can only contain authorization_code and refresh_token' };
  }
  if (!isFilled(client.redirect_uris))
    return { member: 'redirect_uris', reason: 'must contain at least one address' };
  return (
    urisRefusal('redirect_uris', client.redirect_uris) ??
    urisRefusal('post_logout_redirect_uris', client.post_logout_redirect_uris)
  );
}

/** A client without a redirect address can sign nobody in; what is no array is rejected as such. */
function isFilled(uris: unknown): boolean {
  return uris !== undefined && (!Array.isArray(uris) || uris.length > 0);
}

/** Why what was sent is too much to keep: strangers register, and their clients may stay for ever. @param sent the body of the request */
export function sizeRefusal(sent: unknown): Refusal | undefined {
  if (JSON.stringify(sent).length > maxMetadataLength)
    return { member: 'metadata', reason: `must be at most ${maxMetadataLength} characters in total` };
  if (countMembers(sent) > maxMembers)
    return { member: 'metadata', reason: `must have at most ${maxMembers} members and elements` };
  return undefined;
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, member) => count + 1 + countMembers(member), 0);
}

function urisRefusal(member: string, uris: unknown): Refusal | undefined {
  if (uris === undefined) return undefined;
  if (!Array.isArray(uris)) return { member, reason: 'must be an array' };
  if (uris.length > maxRedirectUris) return { member, reason: `must be at most ${maxRedirectUris}` };
  for (const uri of uris) {
    const reason = redirectRefusal(uri);
    if (reason !== undefined) return { member, reason };
  }
  return undefined;
}

/** Why an address is no redirect target, or undefined. */
export function redirectRefusal(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return 'must only contain strings';
  if (uri.length > maxUriLength) return `must be at most ${maxUriLength} characters each`;
  if (/[\s\\*]/.test(uri)) return 'must not contain spaces, backslashes or wildcards';
  const parsed = URL.parse(uri);
  if (parsed === null || !isSpelledOut(uri, parsed)) return 'must only contain valid uris';
  if (!isPlainHost(parsed)) return 'must have a host of letters, digits, dots and hyphens';
  if (uri.includes('#')) return 'must not contain fragments';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain user information';
  if (parsed.protocol === 'https:') return undefined;
  if (parsed.protocol === 'http:') {
    return loopbackHosts.has(parsed.hostname) ? undefined : 'must use https, except on loopback addresses';
  }
  // RFC 8252 §7.1: a private-use scheme is a domain name in reverse, so it has a dot. `javascript:` and `data:` have none.
  return parsed.protocol.includes('.')
    ? undefined
    : 'must use https, a loopback address or a reverse-domain scheme';
}

/** Others (`;`, `,` and quotes, which the URL standard allows) would change the Content-Security-Policy that names the host. */
export function isPlainHost({ protocol, hostname }: URL): boolean {
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return !isWeb || /^([a-z0-9.-]+|\[[0-9a-f:.]+\])$/.test(hostname);
}

/** `HTTPS:/app.example` means the same to a browser, but redirects are compared letter by letter (RFC 9700 §2.1). */
function isSpelledOut(uri: string, { protocol }: URL): boolean {
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return uri.startsWith(isWeb ? `${protocol}//` : protocol);
}

/** The interface has no `application_type`: who is sent anywhere but to https is a native app (RFC 8252 §7). */
export function applicationType(redirectUris: readonly string[]): 'web' | 'native' {
  return redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native';
}

/** A name as people may see it: without control characters and marks that turn the writing around. */
export function presentableName(name: string): string {
  return name
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
}

function isOpenGrant(grant: unknown): boolean {
  return typeof grant === 'string' && openGrants.includes(grant);
}
