import fc from 'fast-check';
import { addressRule } from './address.rules.js';

const inProduction = addressRule({ allowLoopback: false, blockedNetworks: ['8.8.4.0/24'] });
const inDevelopment = addressRule({ allowLoopback: true, blockedNetworks: [] });

const blockedIpv4 =
  '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254 172.16.0.1 ' +
  '172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 ' +
  '224.0.0.1 240.0.0.1 255.255.255.255 8.8.4.4';
const blockedIpv6 =
  ':: ::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 100::1 5f00::1 ::ffff:127.0.0.1 ' +
  '::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::7f00:1 64:ff9b::7f00:1 64:ff9b:1::1 2001::1 2001:20::1 2001:db8::1 ' +
  '2002:7f00:1:: 2620:4f:8000::1 3fff::1 100:0:0:1::1';

describe('the address rule', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700::1111',
  ])('allows %s', (address) => {
    expect(inProduction(address)).toBe(true);
  });

  it.each([
    ...blockedIpv4.split(' '),
    ...blockedIpv6.split(' '),
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

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('allows %s in development', (address) => {
    expect(inDevelopment(address)).toBe(true);
  });

  it.each(['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', 'fd00::1', '0.0.0.0'])(
    'blocks %s in development too',
    (address) => {
      expect(inDevelopment(address)).toBe(false);
    },
  );
});
