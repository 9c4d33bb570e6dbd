import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { GuardedClient, type ResolvedAddress } from '@fulfilment/guarded-fetch';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { allHaveStatus, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { maxSubscriptions } from '../../subscriptions/subscription.rules.js';

const attempts = 2; // steps of the schedule below
const publicAddress: ResolvedAddress = { address: '8.8.8.8', family: 4 };
/**
 * Addresses of this machine, so that a connection would arrive. All are configured as blocked networks, since
 * some may be public.
 */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address, family }): ResolvedAddress => ({ address, family: family === 'IPv6' ? 6 : 4 }));
const metadataAddress: ResolvedAddress = { address: '169.254.169.254', family: 4 };
const mappedAddress: ResolvedAddress = { address: '::ffff:127.0.0.1', family: 6 };

/** Spellings that some parser resolves to this machine. */
const literals = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7F.1', '017700000001', '0177.0.0.1'],
  ...['127.0.0.1.', '127.255.255.254', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', '0', '0.0.0.0', '0x0'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::ffff:127.0.0.1]', '[::FFFF:7F00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
];
const names = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'hooks.internal',
  'printer.local',
  'db',
];

const setUrl = statement('test.set-url', 'UPDATE webhook_subscriptions SET url = $2 WHERE id = $1');

/** Results of the lookups of a name, in order; the last one is repeated. */
const lookups = new Map<string, ResolvedAddress[][]>();
const client = new GuardedClient({
  allowLoopback: false,
  blockedNetworks: ownAddresses.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`),
  resolve: (hostname) => {
    const results = lookups.get(hostname.toLowerCase()) ?? [[{ address: '127.0.0.1', family: 4 }]];
    return Promise.resolve((results.length > 1 ? results.shift() : results[0]) ?? []);
  },
});
const given = setUpWorker({ ALLOW_LOOPBACK_TARGETS: 'false', WEBHOOK_RETRY_SCHEDULE_MS: '0,20' }, { client });

let listener: Server;
let port: number;
let connections = 0;
beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0); // on all addresses
  await once(listener, 'listening');
  const address = listener.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => listener.close());
beforeEach(() => {
  lookups.clear();
  connections = 0;
});

const urlOf = (host: string): string => `https://${host}:${port}/hook`;
const expectEveryAttemptBlocked = async (count: number): Promise<void> => {
  const rows = await given.deliveriesWhen(allHaveStatus(count, 'failed'));
  expect(rows.map(({ outcomes }) => outcomes)).toEqual(
    rows.map(() => Array.from({ length: attempts }, () => 'blocked_address')),
  );
  expect(connections).toBe(0);
};

describe('a private address', () => {
  it('is rejected as a target in every spelling, on creation and on update of a subscription', async () => {
    const owner = await given.client();
    lookups.set('hooks.example.com', [[publicAddress]]);
    const id = await owner.subscribe(urlOf('hooks.example.com'));
    for (const host of [...literals, ...names]) {
      const input = { url: urlOf(host), events: ['order.created'], secret: 's' };
      const [created, changed] = [await owner.post(input), await owner.patch(id, { url: input.url })];
      expect([host, created.status, changed.status]).toEqual([host, 400, 400]);
    }
    expect(connections).toBe(0);
  });

  it('is not connected to in any spelling, even if a stored subscription has it', async () => {
    const urls = [...literals, ...names, ...ownAddresses.map(literalOf)].flatMap((host) => [
      urlOf(host),
      urlOf(host).replace('https', 'http'),
    ]);
    lookups.set('hooks.example.com', [[publicAddress]]);
    for (let first = 0; first < urls.length; first += maxSubscriptions) {
      const owner = await given.client();
      for (const url of urls.slice(first, first + maxSubscriptions)) {
        const id = await owner.subscribe(urlOf('hooks.example.com'));
        await given.stores.database.run(setUrl, [parsePublicId('whk', id), url]); // as if it had been allowed
      }
      await given.publish(orderCreated(owner.creatorId));
    }
    await expectEveryAttemptBlocked(urls.length);
  });

  it('is not connected to when a name resolves to it that had a public address at the check', async () => {
    const resolutions: ResolvedAddress[][] = [
      ...[...ownAddresses, metadataAddress, mappedAddress].map((address) => [address]),
      ...[...ownAddresses, metadataAddress, mappedAddress].flatMap((address) => [
        [publicAddress, address],
        [address, publicAddress],
      ]),
      [], // no address at all
    ];
    const hosts = resolutions.map((later, index) => {
      const host = `rebinding-${index}.example.com`;
      lookups.set(host, [[publicAddress], later]);
      return host;
    });
    for (let first = 0; first < hosts.length; first += maxSubscriptions) {
      const owner = await given.client();
      for (const host of hosts.slice(first, first + maxSubscriptions)) await owner.subscribe(urlOf(host));
      await given.publish(orderCreated(owner.creatorId));
    }
    await expectEveryAttemptBlocked(resolutions.length);
  });

  it('is rejected as a target when it is one of several addresses of a name', async () => {
    for (const [index, privateAddress] of [...ownAddresses, metadataAddress, mappedAddress].entries()) {
      const owner = await given.client();
      lookups.set(`mixed-${index}.example.com`, [[publicAddress, privateAddress]]);
      const input = { url: urlOf(`mixed-${index}.example.com`), events: ['order.created'], secret: 's' };
      expect((await owner.post(input)).status).toBe(400);
    }
    expect(connections).toBe(0);
  });
});

function literalOf({ address, family }: ResolvedAddress): string {
  return family === 6 ? `[${address}]` : address;
}
