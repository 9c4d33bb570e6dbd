import { isIPv4, isIPv6 } from 'node:net';

/** The networks for which requests of an address are counted. */
export interface ClientNetwork {
  /** An IPv4 address, or the /64 of an IPv6 address: one host can use every address of its /64. */
  readonly network: string;
  /** The /56 of an IPv6 address, which one subscriber commonly gets; undefined for IPv4. */
  readonly widerNetwork: string | undefined;
}

/** The limit of a wider network is the configured limit, multiplied by this. */
export const widerNetworkFactor = 4;

/**
 * Maps the address of a client to the networks that limits count. An IPv4-mapped IPv6 address counts as the
 * IPv4 address. All texts that are not addresses share one network, so that none gets a quota of its own.
 */
export function clientNetwork(address: string | undefined): ClientNetwork {
  const [text = ''] = (address ?? '').split('%'); // a zone id may follow
  if (isIPv4(text)) return { network: text, widerNetwork: undefined };
  if (!isIPv6(text)) return { network: 'unknown', widerNetwork: undefined };
  const groups = groupsOf(text);
  if (isIPv4Mapped(groups)) return { network: mappedIPv4(groups), widerNetwork: undefined };
  const [first = 0, second = 0, third = 0, fourth = 0] = groups;
  const prefixOf = (subnet: number): string =>
    [first, second, third, subnet].map((group) => group.toString(16)).join(':');
  return { network: `${prefixOf(fourth)}::/64`, widerNetwork: `${prefixOf(fourth & 0xff00)}::/56` };
}

/** The eight groups of an IPv6 address in any of its spellings (RFC 4291 §2.2). */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1); // without dotted IPv4 parts
  const [head = '', tail] = canonical.split('::');
  const leading = numbersOf(head);
  if (tail === undefined) return leading;
  const trailing = numbersOf(tail);
  const zeros = Array<number>(8 - leading.length - trailing.length).fill(0);
  return [...leading, ...zeros, ...trailing];
}

function numbersOf(groups: string): number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16));
}

/** `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
function isIPv4Mapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

function mappedIPv4(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}
