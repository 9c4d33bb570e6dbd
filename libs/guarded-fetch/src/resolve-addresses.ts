import { lookup, Resolver } from 'node:dns/promises';
import { isOurFault } from './outcome.rules.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name, IPv4 first. Rejects with a node:dns error when there is none. */
export type ResolveAddresses = (hostname: string) => Promise<ResolvedAddress[]>;

const queryTimeoutMs = 2_000;
const queryTries = 2;

/**
 * Asks the name servers directly. Not `dns.lookup`: that waits in libuv's pool of four threads, where a few
 * names with dead name servers would keep everybody else waiting.
 */
export function resolveByNameServer(): ResolveAddresses {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryTries });
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [
      ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 as const })),
      ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    // One answer that there is none does not speak for the other question, when that was not answered.
    const failures = [four, six].flatMap((one): Error[] =>
      one.status === 'rejected' && one.reason instanceof Error ? [one.reason] : [],
    );
    throw failures.find(isOurFault) ?? failures[0] ?? new Error('The name has no address.');
  };
}

/** Asks as the machine does, so names of its hosts file count: for development. */
export function resolveByMachine(): ResolveAddresses {
  return async (hostname) => {
    const found = await lookup(hostname, { all: true, verbatim: false });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  };
}
