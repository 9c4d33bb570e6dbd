import { type Message, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, freePort, listen } from '@fulfilment/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxSubscriptions } from '../../subscriptions/subscription.rules.js';
import {
  aClient,
  deliveriesOf,
  orderCreated,
  ordersCreated,
  webhookStores,
  type WebhookStores,
} from '../../test/webhook-worker.fixture.js';
import { startWorkerProcess, type WorkerProcess } from '../../test/worker-process.fixture.js';
import { certificates, hostileBehaviours, speakNoTls, hostileServers } from './hostile-receivers.fixture.js';

/** Never reached, even on a slow machine, by attempts at receivers that end the exchange themselves. */
const timeoutMs = 30_000;
const shortTimeoutMs = 1_000;
/** Number of subscriptions whose receivers never respond. */
const deadCount = 200;
/** Number of deliveries to all these receivers. */
const backlogSize = 5_000;
const measuredCount = 100;
/** Less than the behaviours would need if their endless and compressed bodies were read as a whole. */
const maxGrowthBytes = 256 * 1024 * 1024;

const countOpen = statement(
  'test.count-open',
  `SELECT count(*) AS count FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   WHERE s.creator_id = ANY($1::uuid[]) AND d.completed_at IS NULL`,
);

type Target = readonly [name: string, outcome: string, url: string];

const urlOf = (scheme: string, port: number): string => `${scheme}://127.0.0.1:${port}/`;

/**
 * Registers Jest hooks that start a worker process, whose attempts time out after `attemptTimeoutMs`, and
 * hostile servers.
 */
function setUpHostileServers(attemptTimeoutMs: number) {
  let stores: WebhookStores;
  let worker: WorkerProcess;
  let internalPort: number;
  let directory: string;
  let certificateFiles: Awaited<ReturnType<typeof certificates>>;
  let servers: ReturnType<typeof hostileServers>;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'certificates-'));
    certificateFiles = await certificates(directory);
    stores = await webhookStores();
    internalPort = await freePort();
    worker = await startWorkerProcess(stores, {
      INTERNAL_PORT: String(internalPort),
      NODE_EXTRA_CA_CERTS: certificateFiles.authority,
      WEBHOOK_TIMEOUT_MS: String(attemptTimeoutMs),
      WEBHOOK_RETRY_SCHEDULE_MS: '0', // one attempt
    });
    await worker.untilReady();
  });
  afterAll(async () => {
    await worker.kill();
    await stores.stop();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    stores.resetCreators();
    servers = hostileServers();
  });
  afterEach(async () => {
    await servers.stop();
    for (const stop of stops.splice(0)) await stop();
  });

  const residentBytes = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
  };
  /** Makes two attempts at each target. Expects their outcomes, and that the memory grows little. */
  const expectOutcomes = async (targets: readonly Target[]): Promise<void> => {
    const client = await aClient(stores, worker);
    const ids = new Map<string, string>();
    for (const [name, , target] of targets) ids.set(name, await client.subscribe(target));
    const bytesBefore = await residentBytes();
    let peakBytes = bytesBefore;
    await stores.broker.publish(...ordersCreated(client.creatorId, 2));
    const rows = await eventually(
      async () => {
        peakBytes = Math.max(peakBytes, await residentBytes());
        const found = await deliveriesOf(stores);
        const haveEnded = found.every(({ status }) => ['succeeded', 'failed'].includes(status));
        return found.length === 2 * targets.length && haveEnded ? found : undefined;
      },
      { timeoutMs: 100_000 },
    );
    const outcomesOf = (name: string): string => {
      const ofTarget = rows.filter((row) => publicId('whk', row.subscription_id) === ids.get(name));
      return [...new Set(ofTarget.flatMap(({ outcomes }) => outcomes ?? []))].join();
    };
    expect(Object.fromEntries(targets.map(([name]) => [name, outcomesOf(name)]))).toEqual(
      Object.fromEntries(targets.map(([name, outcome]) => [name, outcome])),
    );
    expect(peakBytes - bytesBefore).toBeLessThan(maxGrowthBytes);
  };
  return {
    get stores() {
      return stores;
    },
    get worker() {
      return worker;
    },
    get servers() {
      return servers;
    },
    get certificateFiles() {
      return certificateFiles;
    },
    stops,
    expectOutcomes,
    /** Starts the servers of these behaviours. */
    targetsOf: (behaviours: ReturnType<typeof hostileBehaviours>): Promise<Target[]> =>
      Promise.all(
        behaviours.map(async ([name, outcome, behaviour]) => {
          return [name, outcome, urlOf('http', await servers.plain(behaviour))] as const;
        }),
      ),
  };
}

/** Whether attempts at the receiver end with their timeout. */
const endsWithTimeout = ([, outcome]: ReturnType<typeof hostileBehaviours>[number]): boolean =>
  outcome === 'timeout';

describe('a worker whose receivers are hostile', () => {
  const given = setUpHostileServers(timeoutMs);

  /** A receiver that responds at once. `measure` publishes an event and returns the ms until it arrived. */
  const goodReceiver = async () => {
    const client = await aClient(given.stores, given.worker);
    const arrivals = new Map<string, (atMs: number) => void>();
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.writeHead(204).end();
        arrivals.get(String(JSON.parse(body).id))?.(performance.now());
      });
    });
    const { port, close } = await listen(server);
    given.stops.push(close);
    await client.subscribe(`http://127.0.0.1:${port}/`);
    return {
      measure: async (): Promise<number> => {
        const message = orderCreated(client.creatorId);
        const arrived = new Promise<number>((resolve) => {
          arrivals.set(publicId('evt', message.id), resolve);
        });
        const beganAtMs = performance.now();
        await given.stores.broker.publish(message);
        return (await arrived) - beganAtMs;
      },
    };
  };
  const p99 = (latencies: readonly number[]): number =>
    latencies.toSorted((a, b) => a - b)[Math.ceil(latencies.length * 0.99) - 1] ?? Infinity;

  it('records the right outcome for every misbehaving receiver, keeps memory bounded and follows no redirect', async () => {
    const redirectTargets = hostileServers();
    given.stops.push(redirectTargets.stop);
    const redirectTargetPort = await redirectTargets.plain((socket) => void socket.end());
    const behaviours = hostileBehaviours(urlOf('http', redirectTargetPort));
    const { good, otherHost, expired, selfSigned } = given.certificateFiles;
    const { servers } = given;
    await given.expectOutcomes([
      ...(await given.targetsOf(behaviours.filter((each) => !endsWithTimeout(each)))),
      ['rejects connections', 'connection_failed', urlOf('http', await freePort())],
      ['has a good certificate', 'succeeded', urlOf('https', await servers.tls(good))],
      ['has the certificate of another host', 'tls_error', urlOf('https', await servers.tls(otherHost))],
      ['has an expired certificate', 'tls_error', urlOf('https', await servers.tls(expired))],
      ['signed its own certificate', 'tls_error', urlOf('https', await servers.tls(selfSigned))],
      ['speaks no TLS', 'tls_error', urlOf('https', await servers.plain(speakNoTls))],
    ]);
    expect(redirectTargets.connections()).toBe(0);
  });

  it('delivers to a good subscription without waiting for the attempts of others', async () => {
    const creators = await Promise.all(
      Array.from({ length: deadCount / maxSubscriptions }, () => aClient(given.stores, given.worker)),
    );
    for (const client of creators) {
      for (let count = 0; count < maxSubscriptions; count += 1) {
        await client.subscribe(`http://127.0.0.1:${await given.servers.plain(() => undefined)}/`);
      }
    }
    const good = await goodReceiver();
    const messages: Message[] = [];
    for (let count = 0; count < backlogSize / deadCount; count += 1) {
      messages.push(...creators.map(({ creatorId }) => orderCreated(creatorId)));
    }
    await given.stores.broker.publish(...messages);
    await eventually(() => given.servers.connections() >= deadCount);
    const latencies: number[] = [];
    while (latencies.length < measuredCount) latencies.push(await good.measure());
    const open = await given.stores.database.row<{ count: number }>(countOpen, [
      creators.map((one) => one.creatorId),
    ]);
    expect(open?.count).toBeGreaterThan(backlogSize / 2); // the backlog lasted until the end
    expect(p99(latencies)).toBeLessThan(timeoutMs); // the benchmark has a closer limit
  });
});

describe('a worker whose receivers do not end the exchange', () => {
  const given = setUpHostileServers(shortTimeoutMs);

  it('records a timeout, and keeps memory bounded', async () => {
    const unused = 'http://127.0.0.1/'; // no redirect ends with a timeout
    const behaviours = hostileBehaviours(unused).filter(endsWithTimeout);
    expect(behaviours).not.toEqual([]);
    await given.expectOutcomes([
      ...(await given.targetsOf(behaviours)),
      ['begins no TLS', 'timeout', urlOf('https', await given.servers.plain(() => undefined))],
    ]);
  });
});
