import { type Message, messages, storeScopes, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { startHttp } from '@fulfilment/http-service';
import { Messaging, queuesOf } from '@fulfilment/messaging';
import { CLOCK, type Clock, createLogger, LOGGER, systemClock } from '@fulfilment/runtime';
import { DatabasePools, ServiceLifecycle } from '@fulfilment/service-host';
import { eventually, storeUrl, tokenMaker, uniqueName } from '@fulfilment/testing';
import { scratchBroker } from '@fulfilment/messaging/testing';
import { absentReplica, scratchDatabase } from '@fulfilment/database/testing';
import { DocumentedResponses, readDocument } from '@fulfilment/testing/reference';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { createHmac } from 'node:crypto';
import request from 'supertest';
import { webhookWorkerSettings } from '../config.js';
import { Reconciler } from '../delivery/reconciler/reconciler.js';
import { DispatchJobs } from '../dispatch-queue/dispatch-jobs.js';
import { PatientDispatchJobs } from '../dispatch-queue/dispatch-jobs.fixture.js';
import { migrations } from '../migrations/index.js';
import { anOrder } from './snapshots.fixture.js';
import { WebhookWorkerModule } from '../webhook-worker.module.js';

/** Compares the responses to the clients of the tests with the API reference. */
const documented = new DocumentedResponses(readDocument('store'), '/store');

const deliveriesOfCreators = statement(
  'test.deliveries',
  `SELECT d.*, (SELECT array_agg(a.outcome ORDER BY a.number) FROM webhook_attempts a WHERE a.delivery_id = d.id) AS outcomes
   FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
   WHERE s.creator_id = ANY($1::uuid[]) ORDER BY d.created_at, d.id`,
);

export interface DeliveryRow {
  readonly id: string;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly status: string;
  readonly failure_reason: string | null;
  readonly attempt_count: number;
  readonly outcomes: string[] | null;
}

/** Stores and tokens that outlive a worker, so that a test can restart workers. */
export async function webhookStores() {
  const stores = await scratchDatabase(migrations, { forceGenericPlan: true });
  const broker = await scratchBroker(queuesOf('webhook-worker'));
  const tokens = await tokenMaker();
  const prefix = uniqueName('webhooks');
  const creators: string[] = [];
  return {
    ...stores,
    /** Creators whose deliveries the running test reads. */
    creators,
    /** Call it before each test, so that the test ignores deliveries of earlier tests. */
    resetCreators: () => creators.splice(0),
    broker,
    tokens,
    prefix,
    stop: async () => {
      const redis = new Redis(storeUrl('TEST_REDIS_URL'));
      await deleteRedisKeys(redis, prefix);
      redis.disconnect();
      await tokens.stop();
      await broker.drop();
      await stores.drop();
    },
  };
}
export type WebhookStores = Awaited<ReturnType<typeof webhookStores>>;

/** Deletes all keys with the prefix. */
export async function deleteRedisKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 500 })) {
    if (Array.isArray(keys) && keys.length > 0) await redis.del(...keys.map(String));
  }
}

/** Settings of a worker on the stores of a test. Delays are short, so that a test covers a whole schedule. */
export function workerEnvironment({ url, broker, tokens, prefix }: WebhookStores) {
  return {
    DATABASE_URL: url,
    REDIS_URL: storeUrl('TEST_REDIS_URL'),
    RABBITMQ_URL: broker.url,
    RABBITMQ_NAMESPACE: broker.namespace,
    BASE_URL: tokens.baseUrl,
    AUTH_URL: tokens.authUrl,
    JWKS_URL: tokens.jwksUrl,
    CURSOR_SECRET: 'test-cursor-secret-of-32-characters',
    SECRET_ENCRYPTION_KEY: Buffer.from('a test key of thirty-two bytes..').toString('base64'),
    WEBHOOK_QUEUE_PREFIX: prefix,
    WEBHOOK_RETRY_SCHEDULE_MS: '0,100,200,400',
    WEBHOOK_TIMEOUT_MS: '30000',
    ALLOW_LOOPBACK_TARGETS: 'true',
  };
}

/** Parts that replace those of the worker. */
export interface WorkerParts {
  readonly client?: GuardedClient;
  readonly database?: Database;
  readonly background?: Database;
  readonly delivery?: Database;
  readonly clock?: Clock;
}

/** Starts a webhook-worker in this process, on real stores. */
export async function startWorker(
  stores: WebhookStores,
  environment: Readonly<Record<string, string>> = {},
  {
    client,
    database = stores.database,
    background = stores.database,
    delivery = stores.database,
    clock = systemClock,
  }: WorkerParts = {},
) {
  const log: string[] = [];
  const printedLevel = process.env['TEST_LOG_LEVEL'];
  const logger =
    printedLevel === undefined
      ? createLogger('webhook-worker', 'info', { write: (line) => void log.push(line) })
      : createLogger('webhook-worker', printedLevel);
  const config = webhookWorkerSettings.parse({
    PORT: '0',
    INTERNAL_PORT: '0',
    HOST: '127.0.0.1',
    ...workerEnvironment(stores),
    ...environment,
  });
  const pools = new Map([
    ['background', background],
    ['delivery', delivery],
    ['shards', stores.database], // its open transaction would occupy a connection of the test's pools
  ]);
  let builder = Test.createTestingModule({ imports: [WebhookWorkerModule.forRoot(config)] })
    .overrideProvider(LOGGER)
    .useValue(logger)
    .overrideProvider(CLOCK)
    .useValue(clock)
    .overrideProvider(DispatchJobs)
    .useClass(PatientDispatchJobs)
    .overrideProvider(DatabasePools)
    .useValue({
      open: (purpose: string) => pools.get(purpose) ?? database,
      openReplica: () => absentReplica(database),
      close: () => undefined,
    });
  if (client !== undefined) builder = builder.overrideProvider(GuardedClient).useValue(client);
  const testing = await builder.compile();
  const app = await startHttp((...args) => testing.createNestApplication(...args));
  const lifecycle = app.get(ServiceLifecycle);
  await lifecycle.startTasks();
  lifecycle.startMessaging();
  const messaging = app.get(Messaging);
  await eventually(() => messaging.connected);
  const token = await stores.tokens.token({ scope: 'webhooks:read' });
  const sendRequest = () =>
    request(app.getHttpServer()).get('/store/v1/webhooks').auth(token, { type: 'bearer' });
  // Waits until the worker has read the keys that verify access tokens; before that, it responds with 5xx.
  await eventually(async () => (await sendRequest()).status < 500);
  return {
    app,
    config,
    server: app.getHttpServer(),
    /** Returns the log records with this message. */
    logged: (message: string): Record<string, unknown>[] =>
      log.map((line) => Object(JSON.parse(line))).filter((line) => line.message === message),
    /** Makes the reconciler start a round now. Does not wait for it. */
    reconcile: () => app.get(Reconciler).wake(),
    stop: () => app.close(),
  };
}
export type Worker = Awaited<ReturnType<typeof startWorker>>;

/** A worker in this process, or the URL of a worker in another process. */
export interface RunningWorker {
  readonly server: Worker['server'] | string;
}

/** Creates a Store API client that is connected to a creator of its own, unless the claims name another. */
export async function aClient(
  stores: WebhookStores,
  worker: RunningWorker,
  claims: Readonly<Record<string, unknown>> = {},
) {
  const { creator_id: claimed } = claims;
  const creatorId = typeof claimed === 'string' ? claimed : uuidv7();
  stores.creators.push(creatorId);
  const tokenClaims = {
    creator_id: creatorId,
    client_id: uniqueName('client'),
    scope: Object.keys(storeScopes).join(' '),
    ...claims,
  };
  const token = await stores.tokens.token(tokenClaims);
  /** @param path below `/v1/webhooks` */
  const send = (method: 'get' | 'post' | 'patch' | 'delete', path: string) =>
    request(worker.server)
      [method](`/store/v1/webhooks${path}`)
      .auth(token, { type: 'bearer' })
      .expect(documented.check);
  return {
    creatorId,
    token,
    claims: tokenClaims,
    get: (path = '') => send('get', path),
    // `Object` narrows the type; a body that is an object stays as it is.
    post: (body: unknown, path = '', headers: Readonly<Record<string, string>> = {}) =>
      send('post', path).set(headers).send(Object(body)),
    patch: (id: string, body: unknown) => send('patch', `/${id}`).send(Object(body)),
    delete: (id: string) => send('delete', `/${id}`),
    /** Creates a subscription. Returns its id. */
    subscribe: async (url: string, events = ['order.created'], secret = 'whsec_test'): Promise<string> => {
      const response = await send('post', '').send({ url, events, secret });
      if (response.status !== 201)
        throw new Error(
          `The subscription was rejected with ${response.status}: ${JSON.stringify(response.body)}`,
        );
      return String(response.body.id);
    },
  };
}

export function orderCreated(creatorId: string): Message {
  return messages.orderCreated.make({ order: anOrder(creatorId) }, { occurredAt: new Date() });
}

export function ordersCreated(creatorId: string, count: number): Message[] {
  return Array.from({ length: count }, () => orderCreated(creatorId));
}

/** Returns the deliveries of the creators of the running test, in order of creation. */
export function deliveriesOf(stores: WebhookStores): Promise<DeliveryRow[]> {
  return stores.database.rows<DeliveryRow>(deliveriesOfCreators, [stores.creators]);
}

/** Returns the deliveries, once they satisfy the condition. */
export function deliveriesWhen(
  stores: WebhookStores,
  condition: (rows: readonly DeliveryRow[]) => boolean,
): Promise<DeliveryRow[]> {
  let last: DeliveryRow[] = [];
  return eventually(
    async () => {
      last = await deliveriesOf(stores);
      return condition(last) ? last : undefined;
    },
    { describe: () => JSON.stringify(last.map(({ status, outcomes }) => ({ status, outcomes }))) },
  );
}

/** Condition: the deliveries have these statuses, in order of creation. */
export const haveStatuses =
  (...expected: string[]) =>
  (rows: readonly { status: string }[]): boolean =>
    rows.length === expected.length && rows.every((row, index) => row.status === expected[index]);

/** Condition: there are `count` deliveries, all with this status. */
export const allHaveStatus = (count: number, status: string) =>
  haveStatuses(...Array.from({ length: count }, () => status));

/** Verifies a signature like a receiver, following docs/receiving-webhooks.md instead of sign.rules.ts. */
export function isSignedWith(secret: string, header: unknown, rawBody: Buffer): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8'))
    .update(Buffer.concat([Buffer.from(`${t}.`), rawBody]))
    .digest('hex');
  return v1 === expected;
}
