import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { GuardedClient, type ResolvedAddress } from '@fulfilment/guarded-fetch';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';

const attempts = 2;
const publicAddress: ResolvedAddress = { address: '8.8.8.8', family: 4 };
/**
 * Addresses of this machine, so that a connection would arrive. Public ones are configured as blocked
 * networks.
 */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((several) => several ?? [])
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
let stores: WebhookStores;
let worker: Worker;
let client: GuardedClient;
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
  stores = await webhookStores();
  client = new GuardedClient({
    allowLoopback: false,
    blockedNetworks: ownAddresses.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`),
    resolve: (hostname) => {
      const script = lookups.get(hostname.toLowerCase()) ?? [[{ address: '127.0.0.1', family: 4 }]];
      return Promise.resolve((script.length > 1 ? script.shift() : script[0]) ?? []);
    },
  });
  worker = await startWorker(
    stores,
    { ALLOW_LOOPBACK_TARGETS: 'false', WEBHOOK_RETRY_SCHEDULE_MS: '0,20' },
    client,
  );
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
  listener.close();
});
beforeEach(() => {
  stores.resetCreators();
  lookups.clear();
  connections = 0;
});

const urlOf = (host: string): string => `https://${host}:${port}/hook`;
const everyAttemptBlocked = async (count: number): Promise<void> => {
  const rows = await deliveriesWhen(
    stores,
    (all) => all.length === count && all.every(({ status }) => status === 'failed'),
  );
  expect(rows.map(({ outcomes }) => outcomes)).toEqual(
    rows.map(() => Array.from({ length: attempts }, () => 'blocked_address')),
  );
  expect(connections).toBe(0);
};

describe('a private address', () => {
  it('is rejected as a target in every spelling, on creation and on update of a subscription', async () => {
    const owner = await aClient(stores, worker);
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
    const owner = await aClient(stores, worker);
    const urls = [...literals, ...names, ...ownAddresses.map(literalOf)].flatMap((host) => [
      urlOf(host),
      urlOf(host).replace('https', 'http'),
    ]);
    // As if stored when it was allowed.
    const some = urls.slice(0, 50);
    const more = await aClient(stores, worker);
    lookups.set('hooks.example.com', [[publicAddress]]);
    for (const [index, url] of urls.slice(0, 100).entries()) {
      const id = await (index < some.length ? owner : more).subscribe(urlOf('hooks.example.com'));
      await stores.database.run(setUrl, [parsePublicId('whk', id), url]);
    }
    await stores.broker.publish(orderCreated(owner.creatorId), orderCreated(more.creatorId));
    await everyAttemptBlocked(Math.min(urls.length, 100));
  });

  it('is not connected to by a name that resolved to a public address when it was checked', async () => {
    const owner = await aClient(stores, worker);
    const resolutions: ResolvedAddress[][] = [
      ...[...ownAddresses, metadataAddress, mappedAddress].map((address) => [address]),
      ...[...ownAddresses, metadataAddress, mappedAddress].flatMap((address) => [
        [publicAddress, address],
        [address, publicAddress],
      ]),
      [],
    ];
    for (const [index, later] of resolutions.entries()) {
      const host = `rebinding-${index}.example.com`;
      lookups.set(host, [[publicAddress], later]);
      await owner.subscribe(urlOf(host));
    }
    await stores.broker.publish(orderCreated(owner.creatorId));
    await everyAttemptBlocked(resolutions.length);
  });

  it('is rejected as a target when it is one of several addresses of a name', async () => {
    const owner = await aClient(stores, worker);
    for (const [index, privateAddress] of [...ownAddresses, metadataAddress, mappedAddress].entries()) {
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
