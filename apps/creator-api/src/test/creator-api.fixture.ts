import type { CreatorSnapshot, Message, OrderSnapshot } from '@fulfilment/contracts';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { startHttp } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { Messaging, queuesOf } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, systemClock } from '@fulfilment/runtime';
import { DatabasePools, ServiceLifecycle } from '@fulfilment/service-host';
import { eventually, storeUrl, tokenMaker } from '@fulfilment/testing';
import { scratchBroker } from '@fulfilment/messaging/testing';
import { absentReplica, scratchDatabase } from '@fulfilment/database/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { randomBytes } from 'node:crypto';
import { DocumentedResponses, readDocument } from '@fulfilment/testing/reference';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import supertest from 'supertest';
import { z } from 'zod';
import { type CreatorApiSettings, creatorApiSettings } from '../config.js';
import { CreatorApiModule } from '../creator-api.module.js';
import { migrations } from '../migrations/index.js';
import { aCreator } from '../creators/creator-snapshot.fixture.js';
import { recordCreators } from '../creators/record-creators.js';
import { projectOrders } from '../orders/project-orders.js';
import { LedgerPosting } from '../ledger/ledger-posting.job.js';
import { postWaitingOrders } from '../ledger/post-waiting-orders.js';
import { ReadAudio } from '../track-uploads/audio/read-audio.js';
import { UploadProcessing } from '../track-uploads/processing/upload-processing.job.js';

/** A worker thread runs compiled code only. */
const audioThread = pathToFileURL(
  join(import.meta.dirname, '../../dist', 'track-uploads', 'audio', 'audio-thread.js'),
);

/** Checks every response in the tests against the committed OpenAPI document. */
const documented = new DocumentedResponses(readDocument('creator'), '/creator');

/**
 * Starts HTTP, the consumers and the outbox relay of the service on a database, broker and token issuer that
 * are created for this test. Of the background tasks, only the processing of uploads runs.
 */
export async function creatorApi(
  environment: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
) {
  const [scratch, broker, tokens] = await Promise.all([
    scratchDatabase(migrations),
    scratchBroker(queuesOf('creator-api')),
    tokenMaker(),
  ]);
  const { database } = scratch;
  const settings = creatorApiSettings.parse({
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    PORT: '0',
    INTERNAL_PORT: '0',
    DATABASE_URL: scratch.url,
    REDIS_URL: storeUrl('TEST_REDIS_URL'),
    RABBITMQ_URL: broker.url,
    RABBITMQ_NAMESPACE: broker.namespace,
    BASE_URL: tokens.baseUrl,
    AUTH_URL: tokens.authUrl,
    JWKS_URL: tokens.jwksUrl,
    CURSOR_SECRET: randomBytes(32).toString('hex'),
    ALLOW_LOOPBACK_TARGETS: 'true',
    TRACK_UPLOAD_CONCURRENCY: '0', // only tests that set it process uploads
    ...environment,
  });
  const readAudio = new ReadAudio(audioThread);
  const postings: Promise<unknown>[] = [];
  const testing = await Test.createTestingModule({ imports: [CreatorApiModule.forRoot(settings)] })
    .overrideProvider(DatabasePools)
    .useValue({ open: () => database, openReplica: () => absentReplica(database), close: () => undefined })
    .overrideProvider(CLOCK)
    .useValue(clock)
    .overrideProvider(ReadAudio)
    .useValue(readAudio)
    // Posts at once, since the loop of LedgerPosting does not run here.
    .overrideProvider(LedgerPosting)
    .useValue({ scheduleCreators: () => void postings.push(postWaitingOrders(database)) })
    .compile();
  const app = await startHttp((...args) => testing.createNestApplication(...args));
  // On a busy machine, Redis may respond so late that a request would continue without it.
  const { client: redis } = app.get(RedisConnection);
  redis.options.commandTimeout = 60_000;
  await eventually(() => redis.status === 'ready');
  app.get(ServiceLifecycle).startMessaging();
  const messaging = app.get(Messaging);
  const processings: UploadProcessing[] = [];
  const startProcessing = (changes: Partial<CreatorApiSettings> = {}) => {
    const processing = new UploadProcessing(
      { ...settings, ...changes },
      database,
      messaging.outbox,
      app.get(GuardedClient),
      readAudio,
      clock,
      app.get(LOGGER),
    );
    processing.start();
    processings.push(processing);
    return processing;
  };
  app.get(UploadProcessing).start();
  /** Writes creators and orders as the consumers do, but not the events of timelines. */
  const record = ({
    creators = [],
    orders = [],
  }: {
    creators?: CreatorSnapshot[];
    orders?: OrderSnapshot[];
  }) =>
    database.transaction(async (tx) => {
      await recordCreators(tx, creators);
      await projectOrders(tx, orders);
    });
  // Otherwise stop() may find no connection to close.
  await eventually(() => messaging.connected);
  return {
    app,
    settings,
    /** Starts another upload worker, like a second replica. */
    startProcessing,
    database,
    broker,
    tokens,
    record,
    /** Records a creator, by default of the organisation Harbour. */
    async newCreator(changes: Partial<CreatorSnapshot> = {}) {
      const creator = aCreator('org_harbour', changes);
      await record({ creators: [creator] });
      return creator;
    },
    publish: (...messages: Message[]) => broker.publish(...messages),
    ...requestsTo(app, tokens),
    async stop() {
      await Promise.all(processings.map((processing) => processing.stop()));
      await app.close();
      await Promise.all(postings);
      await Promise.all([scratch.drop(), broker.drop(), tokens.stop()]);
    },
  };
}

/** Functions that send requests to paths below `/creator`, with an access token with the given claims. */
function requestsTo(app: NestExpressApplication, tokens: Awaited<ReturnType<typeof tokenMaker>>) {
  return {
    async get(path: string, claims: Readonly<Record<string, unknown>>) {
      const token = await tokens.token(claims);
      return supertest(app.getHttpServer())
        .get(`/creator${path}`)
        .auth(token, { type: 'bearer' })
        .expect(documented.check);
    },
    async head(path: string, claims: Readonly<Record<string, unknown>>) {
      const token = await tokens.token(claims);
      return supertest(app.getHttpServer()).head(`/creator${path}`).auth(token, { type: 'bearer' });
    },
    /** Opens a stream, which ends when the test leaves it. Resolves with the head of the response. */
    async openStream(
      path: string,
      claims: Readonly<Record<string, unknown>>,
      headers: Readonly<Record<string, string>> = {},
    ) {
      const leaving = new AbortController();
      const { port } = z.object({ port: z.number() }).parse(app.getHttpServer().address());
      const response = await fetch(`http://127.0.0.1:${port}/creator${path}`, {
        headers: { ...headers, Authorization: `Bearer ${await tokens.token(claims)}` },
        signal: leaving.signal,
      });
      return { response, leave: () => leaving.abort() };
    },
    async post(
      path: string,
      claims: Readonly<Record<string, unknown>>,
      body: object,
      headers: Readonly<Record<string, string>> = {},
    ) {
      const token = await tokens.token(claims);
      return supertest(app.getHttpServer())
        .post(`/creator${path}`)
        .auth(token, { type: 'bearer' })
        .set(headers)
        .send(body)
        .expect(documented.check);
    },
  };
}

export type CreatorApi = Awaited<ReturnType<typeof creatorApi>>;

export const ownerClaims = (organisationId: string) => ({ org_id: organisationId, org_role: 'owner' });
export const globalAdminClaims = { org_role: 'global_admin' };
