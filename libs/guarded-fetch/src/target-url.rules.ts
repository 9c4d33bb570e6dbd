import { isIP } from 'node:net';
import type { AddressRule } from './address.rules.js';

const maxCharacters = 2048;
// WHATWG's parser drops or rewrites white space, control characters and backslashes, so two parsers could see
// different addresses. Bidirectional controls (UAX #9 §2) can make people read a different address.
const forbiddenCharacters = /[\s\p{Cc}\p{Bidi_Control}\\]/u;
// Also matches empty user information, which the parser removes (RFC 3986 §3.2.1), after any number of
// slashes, which the parser accepts.
const userinfo = /^https?:\/*[^/?#]*@/i;
// RFC 1035 §2.3.4; the name's 255 octets are 253 characters.
const maxNameCharacters = 253;
const maxLabelCharacters = 63;
/**
 * Default ports of infrastructure services, which must not get requests from callers: Docker, etcd, MySQL,
 * Erlang, PostgreSQL, AMQP, Redis, Kubernetes, Consul, Cassandra, Kafka, Elasticsearch, kubelet, memcached,
 * RabbitMQ, MongoDB.
 */
const infrastructurePorts = new Set([
  2375, 2376, 2379, 2380, 3306, 4369, 5432, 5671, 5672, 6379, 6443, 8500, 9042, 9092, 9200, 9300, 10250,
  11211, 15672, 25672, 27017,
]);
/** Names that only local networks resolve, and `.onion` names (RFC 7686), which are not in the DNS. */
const localNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|onion)$/;

const percentEncoded = '%[0-9A-Fa-f]{2}';
const hostCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=]|${percentEncoded})`;
const pathCharacter = `(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/]|${percentEncoded})`;
/** An http or https URI (RFC 3986) without user information and fragment. */
const uriPattern = new RegExp(
  `^https?://(?:\\[[0-9A-Fa-f:.]+\\]|${hostCharacter}+)(?::[0-9]*)?(?:/${pathCharacter}*)?(?:\\?(?:${pathCharacter}|\\?)*)?$`,
  'i',
);

export interface TargetPolicy {
  /** Allows loopback targets, also over http and on any port, for development. */
  readonly allowLoopback: boolean;
  readonly isAllowedAddress: AddressRule;
  /** `host:port` of this suite's public URLs: a request to itself could loop for ever. */
  readonly ownHosts: ReadonlySet<string>;
}

/**
 * Returns why an untrusted URL is not allowed as a target; undefined if it is. Checks the URL alone; the
 * addresses of its name are checked when the connection is made.
 */
export function targetUrlProblem(text: string, policy: TargetPolicy): string | undefined {
  const problem = policyProblem(text, policy);
  if (problem !== undefined) return problem;
  if (toUri(text) === undefined) return 'must be a URI (RFC 3986); percent-encode all other characters';
  return undefined;
}

function policyProblem(text: string, policy: TargetPolicy): string | undefined {
  if ([...text].length > maxCharacters) return `must be at most ${maxCharacters} characters`;
  if (forbiddenCharacters.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'must be an absolute https URL';
  const url = new URL(text);
  const host = hostOf(url);
  const isLoopbackAllowed = policy.allowLoopback && isLoopbackHost(host);
  if (url.protocol !== 'https:' && !isLoopbackAllowed) return 'must be an https URL';
  if (userinfo.test(text)) return 'must not contain credentials';
  if (text.includes('#')) return 'must not have a fragment';
  if (policy.ownHosts.has(hostAndPort(url))) return 'must not be an address of this service';
  if (isLoopbackAllowed) return undefined;
  return hostProblem(host, policy.isAllowedAddress) ?? portProblem(url);
}

/**
 * Returns a target URL as a URI (RFC 3986), since the API reference promises `format: uri`: unchanged if it
 * is one, else as WHATWG normalises it (`https://münchen.example/ä` becomes
 * `https://xn--mnchen-3ya.example/%C3%A4`). Returns undefined if the normalised form is not a URI either.
 */
export function toUri(url: string): string | undefined {
  if (uriPattern.test(url)) return url;
  if (!URL.canParse(url)) return undefined;
  const { href } = new URL(url);
  return uriPattern.test(href) ? href : undefined;
}

/**
 * Returns the host of the connection, without the brackets of IPv6 and the final dot. WHATWG has already
 * normalised `0x7f.1` and `①②⑦.⓪.⓪.①` to 127.0.0.1.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Returns `host:port`, also for a default port, with `localhost` in place of any loopback host. */
export function hostAndPort(url: URL): string {
  const host = hostOf(url);
  return `${isLoopbackHost(host) ? 'localhost' : host}:${portOf(url)}`;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  // WHATWG writes the IPv4-mapped ::ffff:127.0.0.1 as ::ffff:7f00:1.
  return isIP(host) !== 0 && /^(127\.|::1$|::ffff:7f[0-9a-f]{2}:)/.test(host);
}

function hostProblem(host: string, isAllowedAddress: AddressRule): string | undefined {
  if (isIP(host) !== 0)
    return isAllowedAddress(host) ? undefined : 'must not be a private or reserved address';
  if (!host.includes('.') || localNames.test(host)) return 'must have a public host name';
  const hasInvalidLabel = host.split('.').some(({ length }) => length < 1 || length > maxLabelCharacters);
  return hasInvalidLabel || host.length > maxNameCharacters ? 'must have a valid host name' : undefined;
}

/** Ports below 1024 belong to system services, except for that of https. */
function portProblem(url: URL): string | undefined {
  const port = portOf(url);
  const isSystemPort = port < 1024 && port !== 443;
  return isSystemPort || infrastructurePorts.has(port) ? `must not use port ${port}` : undefined;
}
