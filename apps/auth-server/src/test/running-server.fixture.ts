import { BACKGROUND_DATABASE, Database } from '@fulfilment/database';
import { startHttp } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { Outbox } from '@fulfilment/messaging';
import { SecretBox } from '@fulfilment/runtime';
import { DatabasePools, ServiceLifecycle } from '@fulfilment/service-host';
import {
  eventually,
  freePort,
  type FlakyProxy,
  storeUrl,
  testGateway,
  uniqueName,
} from '@fulfilment/testing';
import { scratchDatabase } from '@fulfilment/database/testing';
import { NestFactory } from '@nestjs/core';
import { randomBytes } from 'node:crypto';
import { AuthServerModule } from '../auth-server.module.js';
import { createOrganisation } from '../accounts/create-organisation.js';
import { type AuthServerSettings, authServerSettings } from '../config.js';
import { BrowserSessions } from '../sessions/browser-sessions.js';
import { createCreatorOptions, registerCreator } from '../creators/register-creator.js';
import { migrations } from '../migrations/index.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { createClient, type NewClient } from '../registration/create-client.js';
import { allowDelays } from './allow-delays.fixture.js';
import { makeUser, password } from './users.fixture.js';

export const firstPartyRedirect = 'https://dashboard.example/callback';

export type RunningServer = Awaited<ReturnType<typeof startAuthServer>>;

/**
 * Starts auth-server behind the real gateway, with its own database of creators, users and clients.
 * @param overrides settings that differ from those of most tests
 * @param proxies to PostgreSQL and Redis, for tests of outages
 */
export async function startAuthServer(
  overrides: Readonly<Record<string, string>> = {},
  proxies: { readonly postgres?: FlakyProxy; readonly redis?: FlakyProxy } = {},
) {
  const port = await freePort();
  const direct = `127.0.0.1:${port}`;
  const [scratch, gateway] = await Promise.all([
    scratchDatabase(migrations),
    testGateway({ AUTH_SERVER_ADDRESS: direct }),
  ]);
  const { url } = gateway;
  const config = testSettings({
    PORT: port,
    DATABASE_URL: throughProxy(scratch.url, proxies.postgres),
    // The prefix separates the quotas and revoked tokens of spec files.
    REDIS_URL: `${throughProxy(storeUrl('TEST_REDIS_URL'), proxies.redis)}?keyPrefix=${uniqueName('auth')}:`,
    AUTH_URL: url,
    ...overrides,
  });
  const app = await startHttp((adapter, options) =>
    NestFactory.create(AuthServerModule.forRoot(config), adapter, options),
  );
  await app.get(DatabasePools).connect();
  await allowDelays(app.get(Database));
  await allowDelays(app.get<Database>(BACKGROUND_DATABASE));
  await app.get(ServiceLifecycle).startTasks();
  const [database, redis, secrets] = [app.get(Database), app.get(RedisConnection), app.get(SecretBox)];
  const oidc = app.get(OidcServer);
  await eventually(() => oidc.ready && redis.client.status === 'ready');
  // Requests continue without Redis if it responds too late, which a busy machine may cause.
  if (proxies.redis === undefined) redis.client.options.commandTimeout = 60_000;
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
    browsers: app.get(BrowserSessions),
    creators: await createCreators(database),
    users: await createUsers(database),
    clients: await createClients(database, secrets),
    stop: async () => {
      await gateway.stop();
      await app.close();
      await scratch.drop();
    },
  };
}

/** Returns settings whose limits are too high to be reached; a test that needs a limit overrides it. */
function testSettings(settings: Readonly<Record<string, unknown>>): AuthServerSettings {
  return authServerSettings.parse({
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    INTERNAL_PORT: 0,
    DATABASE_POOL_SIZE: 10,
    RABBITMQ_URL: storeUrl('TEST_RABBITMQ_URL'),
    BASE_URL: 'https://suite.example',
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    COOKIE_KEYS: randomBytes(32).toString('hex'),
    RATE_LIMIT_TOKEN: '100000/60',
    RATE_LIMIT_REGISTER: '100000/60',
    RATE_LIMIT_AUTHORIZATION: '100000/60',
    SIGN_IN_FAILURES: '1000/60',
    SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'false',
    ...settings,
  });
}

function throughProxy(storeUrl: string, proxy: FlakyProxy | undefined): string {
  const url = new URL(storeUrl);
  if (proxy !== undefined) url.host = new URL(proxy.url).host;
  return url.href;
}

async function createCreators(database: Database) {
  await createOrganisation(database, { id: 'org_harbour', name: 'Harbour Lights' });
  await createOrganisation(database, { id: 'org_meridian', name: 'Meridian Sound' });
  const outbox = new Outbox();
  const creator = (organisation: string, name: string) =>
    registerCreator(
      database,
      outbox,
      createCreatorOptions.parse({ organisation, name, 'payment-method': 'pm_ok' }),
    );
  return {
    harbour: await creator('org_harbour', 'Harbour Lights'),
    meridianFirst: await creator('org_meridian', 'First of Meridian'),
    meridianSecond: await creator('org_meridian', 'Second of Meridian'),
  };
}

async function createUsers(database: Database) {
  const user = (email: string, organisation?: string, role?: 'owner' | 'member' | 'global_admin') =>
    makeUser(database, { email, password, organisation, role, name: 'A Person' });
  return {
    harbourOwner: await user('owner@harbour.example', 'org_harbour', 'owner'),
    meridianOwner: await user('owner@meridian.example', 'org_meridian', 'owner'),
    globalAdmin: await user('operator@platform.example', undefined, 'global_admin'),
    withoutOrganisation: await user('nobody@nowhere.example'),
  };
}

async function createClients(database: Database, secrets: SecretBox) {
  const client = (options: Pick<NewClient, 'name'> & Partial<NewClient>) =>
    createClient(
      database,
      { redirectUris: [], firstParty: false, confidential: false, resourceServer: false, ...options },
      secrets,
    );
  return {
    dashboard: await client({ name: 'Dashboard', redirectUris: [firstPartyRedirect], firstParty: true }),
    resourceServer: await client({ name: 'Resource server', confidential: true, resourceServer: true }),
  };
}
