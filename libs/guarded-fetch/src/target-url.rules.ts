import { isIP } from 'node:net';
import type { AddressRule } from './address.rules.js';
import { targetUri } from './target-uri.rules.js';

const mostCharacters = 2048;
// White space, control characters and backslashes: WHATWG's parser drops or rewrites them, so two readers could see two addresses. So they could where
// characters turn the direction of what stands beside them (UAX #9 §2).
const strayCharacters = /[\s\p{Cc}\p{Bidi_Control}\\]/u;
// Also an empty one, of which the parser leaves no trace (RFC 3986 §3.2.1).
const userinfo = /^https?:\/*[^/?#]*@/i;
// RFC 1035 §2.3.4; the name's 255 octets are 253 characters.
const mostNameCharacters = 253;
const mostLabelCharacters = 63;
/** Ports where infrastructure listens, not webhooks. */
const infrastructurePorts = new Set([
  2375, 2376, 2379, 2380, 3306, 4369, 5432, 5671, 5672, 6379, 6443, 8500, 9042, 9092, 9200, 9300, 10250,
  11211, 15672, 25672, 27017,
]);
const localNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|onion)$/;

export interface TargetPolicy {
  /** For development: loopback is a target like any other, also over http and on any port. */
  readonly allowLoopback: boolean;
  readonly allowedAddress: AddressRule;
  /** `host:port` of our own public addresses: a delivery to ourselves could go round for ever. */
  readonly ownHosts: ReadonlySet<string>;
}

/**
 * Why a URL that a stranger gave may not be called, or undefined when nothing speaks against it. Looks at the URL alone;
 * what its name resolves to is judged when the connection is made.
 */
export function targetUrlProblem(text: string, policy: TargetPolicy): string | undefined {
  return policyProblem(text, policy) ?? uriProblem(text);
}

function uriProblem(text: string): string | undefined {
  return targetUri(text) === undefined
    ? 'must be a URI (RFC 3986): other characters are percent-encoded'
    : undefined;
}

function policyProblem(text: string, policy: TargetPolicy): string | undefined {
  if ([...text].length > mostCharacters) return `must be at most ${mostCharacters} characters`;
  if (strayCharacters.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'must be an absolute https URL';
  const url = new URL(text);
  const host = hostOf(url);
  const ownMachine = policy.allowLoopback && isLoopback(host, policy.allowedAddress);
  if (url.protocol !== 'https:' && !ownMachine) return 'must be an https URL';
  if (userinfo.test(text)) return 'must not contain credentials';
  if (text.includes('#')) return 'must not have a fragment';
  if (policy.ownHosts.has(hostAndPort(url))) return 'must not be an address of this service';
  if (ownMachine) return undefined;
  return hostProblem(host, policy.allowedAddress) ?? portProblem(url);
}

/** The host as the connection will see it: WHATWG has already turned `0x7f.1` and `①②⑦.⓪.⓪.①` into 127.0.0.1. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** `host:port`, with the scheme's own port written out, and one name for the machine itself. */
export function hostAndPort(url: URL): string {
  const host = hostOf(url);
  return `${isLoopbackHost(host) ? 'localhost' : host}:${portOf(url)}`;
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

function isLoopback(host: string, allowedAddress: AddressRule): boolean {
  return isLoopbackHost(host) && (isIP(host) === 0 || allowedAddress(host));
}

function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) !== 0 && /^(127\.|::1$|::ffff:7f)/.test(host);
}

function hostProblem(host: string, allowedAddress: AddressRule): string | undefined {
  if (isIP(host) !== 0) return allowedAddress(host) ? undefined : 'must not be a private or reserved address';
  if (!host.includes('.') || localNames.test(host)) return 'must have a public host name';
  const labels = host.split('.');
  if (host.length > mostNameCharacters || labels.some((label) => !mayBeLabel(label)))
    return 'must have a host name that can exist';
  return undefined;
}

function mayBeLabel(label: string): boolean {
  return label.length >= 1 && label.length <= mostLabelCharacters;
}

function portProblem(url: URL): string | undefined {
  const port = portOf(url);
  const usual = port === 443 || port >= 1024;
  return usual && !infrastructurePorts.has(port) ? undefined : `must not use port ${port}`;
}
