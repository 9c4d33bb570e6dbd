import { newClient, postRequest, stopAll } from './guarded-client.fixture.js';
import { type Responder, startNameServer } from './name-server.fixture.js';
import { resolveByNameServer } from './resolve-addresses.js';

const ipv4 = Buffer.from([203, 0, 113, 7]);
const ipv6 = Buffer.from('20010db8000000000000000000000007', 'hex');
const found = [
  { address: '203.0.113.7', family: 4 },
  { address: '2001:db8::7', family: 6 },
];
const stops: (() => void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  await stopAll();
});

const privateIpv4 = (type: string) => (type === 'A' ? Buffer.from([10, 0, 0, 1]) : 'none');

async function nameServer(respond: Responder) {
  const server = await startNameServer(respond);
  stops.push(server.close);
  return server;
}

describe('a lookup by a name server', () => {
  it('returns IPv4 and IPv6 addresses', async () => {
    const { address } = await nameServer((type) => (type === 'A' ? ipv4 : ipv6));
    expect(await resolveByNameServer([address])('shop.example')).toEqual(found);
  });

  it('returns the addresses of one family when there are none of the other', async () => {
    const { address } = await nameServer((type) => (type === 'A' ? 'none' : ipv6));
    expect(await resolveByNameServer([address])('shop.example')).toEqual(found.slice(1));
  });

  it('rejects a name without an address', async () => {
    const { address } = await nameServer(() => 'none');
    await expect(resolveByNameServer([address])('shop.example')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  // `blocked_address` shows that the client got the private address before its timeout for a lookup.
  it.each<[string, Responder]>([
    [
      'the first response of each type is lost',
      (type, number) => (number === 1 ? undefined : privateIpv4(type)),
    ],
    [
      'no query for IPv6 addresses gets a response',
      (type) => (type === 'AAAA' ? undefined : privateIpv4(type)),
    ],
  ])('succeeds when %s', async (_case, respond) => {
    const { address, counts } = await nameServer(respond);
    const client = newClient({ allowLoopback: false, resolve: resolveByNameServer([address]) });
    expect(await client.send(postRequest('https://shop.example/'))).toMatchObject({
      outcome: 'blocked_address',
    });
    expect(counts.AAAA).toBe(2); // a single name server is queried twice
  });

  it('succeeds when two name servers give no response about IPv6', async () => {
    const respond = (type: string) => (type === 'A' ? privateIpv4(type) : undefined);
    const servers = [await nameServer(respond), await nameServer(respond)];
    const resolve = resolveByNameServer(servers.map(({ address }) => address));
    const client = newClient({ allowLoopback: false, resolve });
    expect(await client.send(postRequest('https://shop.example/'))).toMatchObject({
      outcome: 'blocked_address',
    });
  });

  it('uses the next name server when one is silent', async () => {
    const silent = await nameServer(() => undefined);
    const { address } = await nameServer((type) => (type === 'A' ? ipv4 : ipv6));
    expect(await resolveByNameServer([silent.address, address])('shop.example')).toEqual(found);
  });
});
