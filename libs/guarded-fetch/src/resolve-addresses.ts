import { getServers, lookup, Resolver } from 'node:dns/promises';
import { isLocalError } from './outcome.rules.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns all addresses of a name, IPv4 first. Rejects with a node:dns error when there is none. */
export type ResolveAddresses = (hostname: string) => Promise<ResolvedAddress[]>;

/**
 * Timeout of the first query. A single name server is queried twice, the second time with twice the timeout;
 * of several servers, each is queried once. So a lookup survives a lost packet, one silent name server, and
 * servers that never respond to queries for IPv6 addresses: all queries end before the timeouts of
 * `guardedConnector` and `findAddressProblem`.
 */
const queryTimeoutMs = 500;

/**
 * Queries the name servers directly. `dns.lookup` would wait in libuv's pool of four threads, where a few
 * names with dead name servers would block all other lookups.
 *
 * @param servers addresses of name servers; by default those of the system
 */
export function resolveByNameServer(servers?: readonly string[]): ResolveAddresses {
  const { length: serverCount } = servers ?? getServers();
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: serverCount > 1 ? 1 : 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [
      ...(ipv4.status === 'fulfilled' ? ipv4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(ipv6.status === 'fulfilled' ? ipv6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    // Prefers a local failure: after it, the other query's "no address" does not show that the name has none.
    const failures = [ipv4, ipv6].flatMap((result): Error[] =>
      result.status === 'rejected' && result.reason instanceof Error ? [result.reason] : [],
    );
    throw failures.find(isLocalError) ?? failures[0] ?? new Error('The host name has no address.');
  };
}

/** Resolves like other programs of this machine, including its hosts file. For development. */
export async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await lookup(hostname, { all: true, verbatim: false });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
