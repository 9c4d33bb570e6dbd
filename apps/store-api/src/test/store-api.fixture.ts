import {
  currencies,
  type Currency,
  type CreatorSnapshot,
  type Message,
  messages,
  publicId,
  storeScopes,
  uuidv7,
} from '@fulfilment/contracts';
import { createDataSource, Database } from '@fulfilment/database';
import { startHttp } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { DatabasePools, ServiceLifecycle } from '@fulfilment/service-host';
import { createLogger, LOGGER, type Logger } from '@fulfilment/runtime';
import { eventually, storeUrl, tokenMaker, uniqueName } from '@fulfilment/testing';
import { messageOutcomes, queuesOf } from '@fulfilment/messaging';
import { scratchBroker } from '@fulfilment/messaging/testing';
import { absentReplica, scratchDatabase } from '@fulfilment/database/testing';
import { DocumentedResponses, readDocument } from '@fulfilment/testing/reference';
import { Test } from '@nestjs/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import request from 'supertest';
import { z } from 'zod';
import { loadCatalogue } from '../catalogue/load-catalogue.js';
import { catalogueOf, type ProductOptions } from '../catalogue/catalogue-file.fixture.js';
import { type StoreApiSettings, storeApiSettings } from '../config.js';
import { creatorSnapshot } from '../connected-creator/snapshots.fixture.js';
import { migrations } from '../migrations/index.js';
import { RefundCharges } from '../billing/refund-charges.js';
import { OrderCompleter } from '../orders/settling/order-completer.js';
import { loadShipping, type ShippingFile } from '../shipping/load-shipping.js';
import { StoreApiModule } from '../store-api.module.js';

const outcomeSchema = z.looseObject({ outcome: z.string(), reason: z.string().nullish() });

/** Prices of parcels of up to 500 g (`light`) and up to 2 kg (`heavy`). */
const rateCard = (
  zone: string,
  currency: Currency,
  { light, heavy }: { readonly light: number; readonly heavy: number },
) => ({
  zone,
  currency,
  bands: [
    { max_weight_grams: 500, amount: light, extra_500g_amount: 100 },
    { max_weight_grams: 2000, amount: heavy, extra_500g_amount: 200 },
  ],
});
/** What the merchant's customer pays for a piece in `orderBody`, in pence. */
export const unitPrice = 2999;
/** Price of the cheapest service to GB for one to three pieces, in minor units of each currency. */
export const shippingPrice = 400;

/** Two services. Their prices are the same numbers in each currency. */
export const shipping: ShippingFile = {
  zones: { uk: ['GB'], world: ['US', 'JP', 'DE'] },
  services: [
    {
      id: '01900000-0000-7000-8000-0000000000a1',
      name: 'Tracked',
      description: 'Two days',
      carriers: ['Royal Mail'],
      regions: ['United Kingdom'],
      position: 1,
      delivery_days: { uk: { min: 1, max: 2 } },
      rate_cards: currencies.map((currency) => rateCard('uk', currency, { light: 350, heavy: 550 })),
    },
    {
      id: '01900000-0000-7000-8000-0000000000a2',
      name: 'Economy',
      description: null,
      carriers: ['Evri'],
      regions: [],
      position: 2,
      delivery_days: {},
      rate_cards: currencies.flatMap((currency) => [
        rateCard('uk', currency, { light: 250, heavy: shippingPrice }),
        rateCard('world', currency, { light: 900, heavy: 1900 }),
      ]),
    },
  ],
};

/** Compares every response with the API reference. */
const documented = new DocumentedResponses(readDocument('store'), '/store');

export const quoteSigningKey = randomBytes(32);
/** Number of connections in the pool that `startStoreApi` creates for requests if `connectTo` is given. */
export const requestPoolSize = 5;

/** Settings of a store-api with the stores and tokens of a test. */
function settingsOfTest(
  databaseUrl: string,
  broker: { readonly url: string; readonly namespace: string },
  tokens: { readonly baseUrl: string; readonly authUrl: string; readonly jwksUrl: string },
  environment: Readonly<Record<string, string>>,
): StoreApiSettings {
  return storeApiSettings.parse({
    PORT: '0',
    INTERNAL_PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    REDIS_URL: storeUrl('TEST_REDIS_URL'),
    RABBITMQ_URL: broker.url,
    RABBITMQ_NAMESPACE: broker.namespace,
    BASE_URL: tokens.baseUrl,
    AUTH_URL: tokens.authUrl,
    JWKS_URL: tokens.jwksUrl,
    PAYMENT_PROVIDER: 'sandbox',
    CURSOR_SECRET: 'test-cursor-secret-of-32-characters',
    QUOTE_SIGNING_KEY: quoteSigningKey.toString('base64'),
    ...environment,
  });
}

/**
 * Starts the HTTP server and the consumers. Background loops stay stopped: tests run the rounds they need.
 */
async function startApp(
  config: StoreApiSettings,
  logger: Logger,
  database: Database,
  requestDatabase: Database,
) {
  const testingModule = await Test.createTestingModule({ imports: [StoreApiModule.forRoot(config)] })
    .overrideProvider(LOGGER)
    .useValue(logger)
    .overrideProvider(DatabasePools)
    .useValue({
      open: () => database,
      openReplica: () => absentReplica(database),
      close: () => undefined,
    })
    .overrideProvider(Database)
    .useValue(requestDatabase)
    .compile();
  const app = await startHttp((...args) => testingModule.createNestApplication(...args));
  // A request continues without Redis when it does not respond in time; a busy machine may take longer.
  const { client: redis } = app.get(RedisConnection);
  redis.options.commandTimeout = 60_000;
  await eventually(() => redis.status === 'ready');
  app.get(ServiceLifecycle).startMessaging();
  return app;
}

/**
 * Starts a store-api of the test's own, with real PostgreSQL, Redis and RabbitMQ and its own tokens.
 * @param connectTo opens a proxy to PostgreSQL, to which requests then have a pool of their own; the test and
 *   the consumers connect directly
 */
export async function startStoreApi(
  environment: Readonly<Record<string, string>> = {},
  connectTo?: (url: string) => Promise<{ readonly url: string; stop(): Promise<void> }>,
) {
  const scratch = await scratchDatabase(migrations);
  const proxy = await connectTo?.(scratch.url);
  const proxied =
    proxy &&
    createDataSource({
      url: proxy.url,
      poolSize: requestPoolSize,
      applicationName: 'proxied',
      migrations: [],
    });
  await proxied?.initialize();
  const broker = await scratchBroker([...queuesOf('store-api'), 'creator-api.replay']);
  const tokens = await tokenMaker();
  const config = settingsOfTest(scratch.url, broker, tokens, environment);
  const requestDatabase = proxied === undefined ? scratch.database : new Database(proxied);
  const log: string[] = [];
  const printedLevel = process.env['TEST_LOG_LEVEL'];
  const logger =
    printedLevel === undefined
      ? createLogger('store-api', 'trace', { write: (line) => void log.push(line) })
      : createLogger('store-api', printedLevel);
  const app = await startApp(config, logger, scratch.database, requestDatabase);
  await loadShipping(scratch.database, shipping);
  const server = app.getHttpServer();
  const get = (path: string, token: string) =>
    request(server).get(path).auth(token, { type: 'bearer' }).expect(documented.check);
  const post = (path: string, token: string, body: object, idempotencyKey?: string) =>
    request(server)
      .post(path)
      .auth(token, { type: 'bearer' })
      .set(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey })
      .send(body)
      .expect(documented.check);
  const findOutcome = messageOutcomes(scratch.database);
  /** Waits until a message is applied, deferred or rejected. Returns its outcome. */
  const outcomeOf = async ({ id }: Message) =>
    outcomeSchema.parse(await eventually(() => findOutcome(`/messages/${id}`)));

  /** Registers a creator, and waits until the service knows it. Returns its id with a token of all scopes. */
  const creator = async (
    paymentMethod: CreatorSnapshot['payment_method'] = 'pm_ok',
    { termsAccepted = true, test = false } = {},
  ): Promise<Creator> => {
    const id = uuidv7();
    await broker.publish(
      messages.creatorRegistered.make(
        {
          creator: creatorSnapshot(id, {
            payment_method: paymentMethod,
            payment_terms_accepted: termsAccepted,
            test,
          }),
        },
        { occurredAt: new Date() },
      ),
    );
    const token = await tokens.token({
      creator_id: id,
      client_id: uniqueName('client'),
      scope: Object.keys(storeScopes).join(' '),
    });
    await eventually(
      async () =>
        (await request(server).get('/store/v1/creator').auth(token, { type: 'bearer' })).status === 200,
    );
    return { id, token };
  };

  return {
    server,
    database: scratch.database,
    broker,
    tokens,
    config,
    app,
    /** The lines that were logged, of all levels; empty if TEST_LOG_LEVEL is set, which prints them. */
    log,
    creator,
    /** Creates a release. Returns its public id and UUID, and its products' skus: the first one, and all. */
    release: async (creatorId: string, products: readonly ProductOptions[] = [{}], name?: string) => {
      const { file, id, productIds } = catalogueOf(creatorId, products, name);
      await loadCatalogue(scratch.database, file);
      const skus = productIds.map((productId) => publicId('prod', productId));
      return { id: publicId('prod', id), uuid: id, sku: skus[0] ?? '', skus };
    },
    get,
    readOrder: async ({ token }: Creator, id: string) => (await get(`/store/v1/orders/${id}`, token)).body,
    post,
    /** Quotes the lightest parcel. Returns the id of the cheapest rate. */
    quote: async (token: string, country = 'GB', currency = 'GBP'): Promise<string> => {
      const path = `/store/v1/shipping-rates?currency=${currency}`;
      return (await post(path, token, { country_code: country })).body.data[0].id;
    },
    /** Processes all due orders and refunds. */
    resumeOrdersAndRefunds: async () => {
      await Promise.all([app.get(OrderCompleter).round(), app.get(RefundCharges).processDue()]);
    },
    outcomeOf,
    /** Publishes messages. Returns the outcome of each, or the reason why it was deferred or rejected. */
    publishAndWait: async (...outgoing: readonly Message[]): Promise<string[]> => {
      await broker.publish(...outgoing);
      const outcomes = await Promise.all(outgoing.map(outcomeOf));
      return outcomes.map(({ outcome, reason }) => reason ?? outcome);
    },
    published: (type: string) => broker.published.filter((message) => message.type === type),
    stop: async () => {
      await app.close();
      await tokens.stop();
      await proxied?.destroy();
      await proxy?.stop();
      await broker.drop();
      await scratch.drop();
    },
  };
}

export type StoreApiUnderTest = Awaited<ReturnType<typeof startStoreApi>>;

/** A creator, with an access token of all scopes. */
export interface Creator {
  readonly id: string;
  readonly token: string;
}

export const address = {
  full_name: 'Aiko Mori',
  address_line_1: '1 Quay Street',
  city: 'London',
  postal_code: 'N1 1AA',
  country_code: 'GB',
};

export function orderBody(sku: string, rateId: string, quantity = 1) {
  return {
    items: [{ sku, quantity, unit_price: { amount: unitPrice, currency: 'GBP' } }],
    shipping_address: address,
    shipping_rate_id: rateId,
  };
}

/** Leaves out repetitions: the outbox may publish a message more than once, always with the same id. */
export const withoutRepetitions = (published: readonly Message[]): Message[] => [
  ...new Map(published.map((message) => [message.id, message])).values(),
];

/** Returns an idempotency key that no other request has. */
export const newKey = () => randomUUID();
