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
 * Addresses of this very machine, so that a connection would arrive. Those it does not have for itself the
 * operator has blocked.
 */
const own = Object.values(networkInterfaces())
  .flatMap((several) => several ?? [])
  .map(({ address, family }): ResolvedAddress => ({ address, family: family === 'IPv6' ? 6 : 4 }));
const ofMetadata: ResolvedAddress = { address: '169.254.169.254', family: 4 };
const mapped: ResolvedAddress = { address: '::ffff:127.0.0.1', family: 6 };

/** Spellings that end at this machine, whoever reads them. */
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

/** What a name resolves to, time after time; the last answer stays. */
const answers = new Map<string, ResolvedAddress[][]>();
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
  }).listen(0); // on every address there is
  await once(listener, 'listening');
  const address = listener.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  stores = await webhookStores();
  client = new GuardedClient({
    allowLoopback: false,
    blockedNetworks: own.map(({ address, family }) => `${address}/${family === 6 ? 128 : 32}`),
    resolve: (hostname) => {
      const script = answers.get(hostname.toLowerCase()) ?? [[{ address: '127.0.0.1', family: 4 }]];
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
  stores.forget();
  answers.clear();
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
  it('is no target, however it is written, neither of a new subscription nor of one that is changed', async () => {
    const owner = await aClient(stores, worker);
    answers.set('hooks.example.com', [[publicAddress]]);
    const id = await owner.subscribe(urlOf('hooks.example.com'));
    for (const host of [...literals, ...names]) {
      const wish = { url: urlOf(host), events: ['order.created'], secret: 's' };
      const [created, changed] = [await owner.post(wish), await owner.patch(id, { url: wish.url })];
      expect([host, created.status, changed.status]).toEqual([host, 400, 400]);
    }
    expect(connections).toBe(0);
  });

  it('is not connected to, however it is written, by a subscription that has it all the same', async () => {
    const owner = await aClient(stores, worker);
    const urls = [...literals, ...names, ...own.map(literalOf)].flatMap((host) => [
      urlOf(host),
      urlOf(host).replace('https', 'http'),
    ]);
    // As if from a time when it was allowed.
    const some = urls.slice(0, 50);
    const more = await aClient(stores, worker);
    answers.set('hooks.example.com', [[publicAddress]]);
    for (const [index, url] of urls.slice(0, 100).entries()) {
      const id = await (index < some.length ? owner : more).subscribe(urlOf('hooks.example.com'));
      await stores.database.run(setUrl, [parsePublicId('whk', id), url]);
    }
    await stores.broker.publish(orderCreated(owner.creatorId), orderCreated(more.creatorId));
    await everyAttemptBlocked(Math.min(urls.length, 100));
  });

  it('is not connected to by way of a name, whatever that resolved to when it was judged', async () => {
    const owner = await aClient(stores, worker);
    const resolutions: ResolvedAddress[][] = [
      ...[...own, ofMetadata, mapped].map((one) => [one]),
      ...[...own, ofMetadata, mapped].flatMap((one) => [
        [publicAddress, one],
        [one, publicAddress],
      ]),
      [],
    ];
    for (const [index, later] of resolutions.entries()) {
      const host = `rebinding-${index}.example.com`;
      answers.set(host, [[publicAddress], later]);
      await owner.subscribe(urlOf(host));
    }
    await stores.broker.publish(orderCreated(owner.creatorId));
    await everyAttemptBlocked(resolutions.length);
  });

  it('makes a name no target when it is one of several that the name has', async () => {
    const owner = await aClient(stores, worker);
    for (const [index, private_] of [...own, ofMetadata, mapped].entries()) {
      answers.set(`mixed-${index}.example.com`, [[publicAddress, private_]]);
      const wish = { url: urlOf(`mixed-${index}.example.com`), events: ['order.created'], secret: 's' };
      expect((await owner.post(wish)).status).toBe(400);
    }
    expect(connections).toBe(0);
  });
});

function literalOf({ address, family }: ResolvedAddress): string {
  return family === 6 ? `[${address}]` : address;
}
