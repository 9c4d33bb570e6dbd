import { BlockList, isIP } from 'node:net';

/** Networks that untrusted URLs must not reach: IANA's special-purpose ones, and one of a cloud service. */
const blockedIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's wire server: a public address that responds only inside Azure
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** IPv6 must be global unicast, which excludes ::1, fc00::/7, fe80::/10, ::ffff:0:0/96 and 64:ff9b::/96. */
const globalIpv6 = '2000::/3';
const blockedIpv6 = [
  '2001::/23', // Teredo, ORCHID, benchmarking
  '2001:db8::/32',
  '2002::/16', // 6to4: contains an IPv4 address
  '2620:4f:8000::/48',
  '3fff::/20',
];
const loopback = ['127.0.0.0/8', '::1/128', '::ffff:127.0.0.0/104'];

export interface AddressPolicy {
  /** Allows loopback addresses, for development. */
  readonly allowLoopback: boolean;
  /** Further blocked networks of the operator, in CIDR form. */
  readonly blockedNetworks: readonly string[];
}

/** Whether connections to an IP address are allowed. An IPv6 address has no brackets. */
export type AddressRule = (address: string) => boolean;

export function addressRule({ allowLoopback, blockedNetworks }: AddressPolicy): AddressRule {
  const blocked = blockList([...blockedIpv4, ...blockedIpv6, ...blockedNetworks]);
  const global6 = blockList([globalIpv6]);
  const loopbackList = blockList(loopback);
  return (address) => {
    const family = isIP(address);
    if (family === 0 || address.includes('%')) return false; // an address with a zone is always local
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (allowLoopback && loopbackList.check(address, type)) return true;
    if (family === 6 && !global6.check(address, type)) return false;
    return !blocked.check(address, type);
  };
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', length] = network.split('/');
    list.addSubnet(base, Number(length), isIP(base) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
