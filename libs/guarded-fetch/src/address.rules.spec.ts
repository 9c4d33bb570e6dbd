import fc from 'fast-check';
import { addressRule } from './address.rules.js';

const inProduction = addressRule({ allowLoopback: false, blockedNetworks: ['8.8.4.0/24'] });
const inDevelopment = addressRule({ allowLoopback: true, blockedNetworks: [] });

const blockedIpv4 =
  '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254 172.16.0.1 ' +
  '172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 ' +
  '224.0.0.1 240.0.0.1 255.255.255.255 8.8.4.4';
/** The last address of each blocked network. */
const lastBlocked =
  '0.255.255.255 10.255.255.255 100.127.255.255 169.254.255.255 192.0.0.255 192.0.2.255 192.88.99.255 ' +
  '192.168.255.255 198.19.255.255 198.51.100.255 203.0.113.255 239.255.255.255 2001:1ff:ffff::1 ' +
  '2001:db8:ffff::1 2002:ffff::1 2620:4f:8000:ffff::1 3fff:fff::1';
/** Public addresses next to blocked networks. */
const neighbours =
  '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 168.63.129.15 ' +
  '168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.1 192.0.1.0 192.0.3.0 192.88.98.255 ' +
  '192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 ' +
  '203.0.112.255 203.0.114.0 223.255.255.255 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2620:4f:7fff::1 ' +
  '2620:4f:8001::1 3ffe:ffff::1 3fff:1000::1';
const blockedIpv6 =
  ':: ::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 100::1 5f00::1 ::ffff:127.0.0.1 ' +
  '::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 2001::1 2001:20::1 2001:db8::1 ' +
  '2002:7f00:1:: 2620:4f:8000::1 3fff::1 100:0:0:1::1';

describe('the address rule', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', ...neighbours.split(' ')])('allows %s', (address) => {
    expect(inProduction(address)).toBe(true);
  });

  it.each([
    ...blockedIpv4.split(' '),
    ...blockedIpv6.split(' '),
    ...lastBlocked.split(' '),
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '1.2.3',
    '',
    'not an address',
  ])('blocks %s', (address) => {
    expect(inProduction(address)).toBe(false);
  });

  it('blocks every IPv4 address of the private, loopback and link-local networks', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, (a, b, c) => {
        expect(inProduction(`10.${a}.${b}.${c}`)).toBe(false);
        expect(inProduction(`127.${a}.${b}.${c}`)).toBe(false);
        expect(inProduction(`192.168.${b}.${c}`)).toBe(false);
        expect(inProduction(`169.254.${b}.${c}`)).toBe(false);
        expect(inProduction(`172.${16 + (a % 16)}.${b}.${c}`)).toBe(false);
      }),
    );
  });

  it('blocks every IPv6 address that is not global unicast', () => {
    const word = fc.integer({ min: 0, max: 0xffff });
    const firstWord = word.filter((value) => value < 0x2000 || value > 0x3fff); // outside 2000::/3
    fc.assert(
      fc.property(firstWord, word, word, (first, second, last) => {
        const address = [first, second, 0, 1, 2, 3, 4, last].map((value) => value.toString(16)).join(':');
        expect(inProduction(address)).toBe(false);
      }),
    );
  });

  it.each(['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '::ffff:127.255.255.255'])(
    'allows %s in development',
    (address) => {
      expect(inDevelopment(address)).toBe(true);
    },
  );

  it.each(
    '10.0.0.1 169.254.169.254 ::ffff:10.0.0.1 ::ffff:126.0.0.1 ::ffff:128.0.0.1 fd00::1 0.0.0.0 :: ::2'.split(
      ' ',
    ),
  )('blocks %s in development too', (address) => {
    expect(inDevelopment(address)).toBe(false);
  });
});
