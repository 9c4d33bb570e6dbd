import { createDataSource, Database } from '@fulfilment/database';
import { RedisConnection } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { createLogger, SecretBox, Shutdown, systemClock } from '@fulfilment/runtime';
import {
  eventually,
  freePort,
  type FlakyProxy,
  storeUrl,
  testGateway,
  uniqueName,
} from '@fulfilment/testing';
import { scratchDatabase } from '@fulfilment/database/testing';
import { randomBytes } from 'node:crypto';
import { createOrganisation } from '../accounts/create-organisation.js';
import { type Config, settings } from '../config.js';
import { registerCreator } from '../creators/register-creator.js';
import { migrations } from '../migrations/index.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { createClient } from '../registration/create-client.js';
import { startAuthServer } from '../start-auth-server.js';
import { makeUser } from './make-user.js';

export const password = 'correct horse battery staple';
export const firstPartyRedirect = 'https://dashboard.example/callback';

export type RunningServer = Awaited<ReturnType<typeof runningServer>>;

/**
 * Starts auth-server behind the real gateway on its own stores, with users and clients.
 * @param lines proxies to its stores, for tests of outages
 */
export async function runningServer(
  overrides: Readonly<Record<string, string>> = {},
  lines: { readonly postgres?: FlakyProxy; readonly redis?: FlakyProxy } = {},
) {
  const port = await freePort();
  const direct = `127.0.0.1:${port}`;
  const [stores, gateway] = await Promise.all([
    scratchDatabase(migrations),
    testGateway({ AUTH_SERVER_ADDRESS: direct }),
  ]);
  const { url } = gateway;
  const databaseUrl = throughLine(stores.url, lines.postgres);
  const config: Config = settings.parse({
    HOST: '127.0.0.1',
    PORT: port,
    INTERNAL_PORT: 0,
    DATABASE_URL: databaseUrl,
    // Separate rate-limit counters.
    REDIS_URL: `${throughLine(storeUrl('TEST_REDIS_URL'), lines.redis)}?keyPrefix=${uniqueName('auth')}:`,
    RABBITMQ_URL: storeUrl('TEST_RABBITMQ_URL'),
    BASE_URL: 'https://suite.example',
    AUTH_URL: url,
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    COOKIE_KEYS: randomBytes(32).toString('hex'),
    RATE_LIMIT_TOKEN: '100000/60',
    RATE_LIMIT_REGISTER: '100000/60',
    RATE_LIMIT_AUTHORIZATION: '100000/60',
    SIGN_IN_FAILURES: '1000/60',
    SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'false',
    ...overrides,
  });
  const logger = createLogger('auth-server', process.env['TEST_LOG_LEVEL'] ?? 'fatal');
  const dataSource = createDataSource({
    url: databaseUrl,
    poolSize: 10,
    applicationName: 'test',
    forceGenericPlan: true, // as main.ts
    migrations,
  });
  await dataSource.initialize();
  const database = new Database(dataSource);
  const redis = new RedisConnection(config.REDIS_URL, logger);
  const secrets = new SecretBox(config.KEY_ENCRYPTION_KEY);
  const shutdown = new Shutdown(logger);
  const server = await startAuthServer({
    config,
    logger,
    database,
    background: database,
    redis,
    outbox: new Outbox(),
    clock: systemClock,
    readiness: {},
  });
  server.startLoops(shutdown);
  shutdown.add('http', () => server.app.close());
  const oidc = server.app.get(OidcServer);
  await eventually(() => (oidc.ready && redis.client.status === 'ready') || undefined);
  return {
    /** URL of the gateway, which is the issuer's. */
    url,
    /** URL of the server without the gateway. */
    direct: `http://${direct}`,
    /** Fetches through the gateway, trusting only its certificate authority. */
    fetch: gateway.fetch,
    ca: gateway.ca,
    config,
    secrets,
    database,
    redis,
    oidc,
    people: await population(database, secrets),
    stop: async () => {
      await gateway.stop();
      await shutdown.run();
      await redis.stop();
      await dataSource.destroy();
      await stores.drop();
    },
  };
}

/** The URL of a store through a proxy that a test can cut. */
function throughLine(storeUrl: string, line: FlakyProxy | undefined): string {
  const url = new URL(storeUrl);
  if (line !== undefined) url.host = new URL(line.url).host;
  return url.href;
}

async function population(database: Database, secrets: SecretBox) {
  const outbox = new Outbox();
  await createOrganisation(database, { id: 'org_harbour', name: 'Harbour Lights' });
  await createOrganisation(database, { id: 'org_meridian', name: 'Meridian Sound' });
  const creator = (organisation: string, name: string) =>
    registerCreator(database, outbox, {
      organisation,
      name,
      paymentMethod: 'pm_ok',
      settlementCurrency: 'GBP',
    });
  const user = (email: string, organisation?: string, role?: 'owner' | 'member' | 'global_admin') =>
    makeUser(database, { email, password, organisation, role, name: 'A Person' });
  return {
    harbour: await creator('org_harbour', 'Harbour Lights'),
    first: await creator('org_meridian', 'First of Meridian'),
    second: await creator('org_meridian', 'Second of Meridian'),
    owner: await user('owner@harbour.example', 'org_harbour', 'owner'),
    meridian: await user('owner@meridian.example', 'org_meridian', 'owner'),
    operator: await user('operator@platform.example', undefined, 'global_admin'),
    withoutOrganisation: await user('nobody@nowhere.example'),
    dashboard: await createClient(
      database,
      {
        name: 'Dashboard',
        redirectUris: [firstPartyRedirect],
        firstParty: true,
        confidential: false,
        resourceServer: false,
      },
      secrets,
    ),
    resourceServer: await createClient(
      database,
      {
        name: 'Resource server',
        redirectUris: [],
        firstParty: false,
        confidential: true,
        resourceServer: true,
      },
      secrets,
    ),
  };
}
