import fc from 'fast-check';
import { clientNetwork } from './client-network.rules.js';

describe('clientNetwork', () => {
  it('returns an IPv4 address as it is', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(clientNetwork(address)).toEqual({ network: address, widerNetwork: undefined });
      }),
    );
  });

  it.each(['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:0102:0304'])(
    'returns the IPv4 address of the IPv4-mapped address %s',
    (address) => {
      expect(clientNetwork(address)).toEqual({ network: '1.2.3.4', widerNetwork: undefined });
    },
  );

  it.each([
    ['2001:db8:1:2ff:a:b:c:d', '2001:db8:1:2ff::/64', '2001:db8:1:200::/56'],
    ['2001:0DB8:0001:02FF::1', '2001:db8:1:2ff::/64', '2001:db8:1:200::/56'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0:0::/56'],
    ['2001:db8::5:6:7:8:9', '2001:db8:0:5::/64', '2001:db8:0:0::/56'],
    ['2001::ffff:1:2', '2001:0:0:0::/64', '2001:0:0:0::/56'], // not IPv4-mapped
    ['::1', '0:0:0:0::/64', '0:0:0:0::/56'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0:0::/56'],
    ['64:ff9b::1.2.3.4', '64:ff9b:0:0::/64', '64:ff9b:0:0::/56'],
  ])('returns the /64 and the /56 of the IPv6 address %s', (address, network, widerNetwork) => {
    expect(clientNetwork(address)).toEqual({ network, widerNetwork });
  });

  it('returns the same networks for every interface identifier of a /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((number) => number.toString(16));
    // An address that begins with 0 may be IPv4-mapped, and then counts as the IPv4 address.
    const prefix = fc.array(group, { minLength: 4, maxLength: 4 }).filter(([first]) => first !== '0');
    const identifier = fc.array(group, { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(prefix, identifier, identifier, (network, one, other) => {
        const networkOf = (host: readonly string[]) => clientNetwork([...network, ...host].join(':'));
        expect(networkOf(one)).toEqual(networkOf(other));
      }),
    );
  });

  it('returns one network for everything that is not an address', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(fc.option(anyText, { nil: undefined }), (text) => {
        expect(['unknown', text]).toContain(clientNetwork(text).network); // the text may be an IPv4 address
      }),
    );
    expect(clientNetwork('1.2.3.4, 5.6.7.8').network).toBe('unknown');
    expect(clientNetwork('').network).toBe('unknown');
  });
});
