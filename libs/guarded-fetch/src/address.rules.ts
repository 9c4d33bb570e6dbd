import { BlockList, isIP } from 'node:net';

/** IPv4 networks that untrusted URLs must not reach (IANA's registries, and one address of Azure). */
const blockedIpv4 = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared address space of carriers (RFC 6598)
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's wire server: a public address that responds only inside Azure
  '169.254.0.0/16', // link-local, with the metadata service of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays, deprecated
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];
/** IPv6 must be global unicast, which excludes ::1, fc00::/7, fe80::/10, ::ffff:0:0/96 and 64:ff9b::/96. */
const globalIpv6 = '2000::/3';
/** Networks inside `globalIpv6` that untrusted URLs must not reach. */
const blockedIpv6 = [
  '2001::/23', // Teredo, ORCHID, benchmarking
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: contains an IPv4 address
  '2620:4f:8000::/48', // AS112 name servers
  '3fff::/20', // documentation
];
const loopback = ['127.0.0.0/8', '::1/128', '::ffff:127.0.0.0/104'];

export interface AddressPolicy {
  /** Allows loopback addresses, for development. */
  readonly allowLoopback: boolean;
  /** Further blocked networks of the operator, in CIDR form. */
  readonly blockedNetworks: readonly string[];
}

/** Whether connections to this IP address are allowed. An IPv6 address is passed without brackets. */
export type AddressRule = (address: string) => boolean;

export function addressRule({ allowLoopback, blockedNetworks }: AddressPolicy): AddressRule {
  const blocked = networkList([...blockedIpv4, ...blockedIpv6, ...blockedNetworks]);
  const globalIpv6List = networkList([globalIpv6]);
  const loopbackList = networkList(loopback);
  return (address) => {
    const family = isIP(address);
    const hasZone = address.includes('%'); // such as fe80::1%eth0: always local
    if (family === 0 || hasZone) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (allowLoopback && loopbackList.check(address, type)) return true;
    if (family === 6 && !globalIpv6List.check(address, type)) return false;
    return !blocked.check(address, type);
  };
}

/** Returns a list whose `check` finds the addresses of these networks. */
function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', length] = network.split('/');
    list.addSubnet(base, Number(length), isIP(base) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
