import { Database } from '@fulfilment/database';
import { RedisConnection, startHttp } from '@fulfilment/http-service';
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
import { registerCreator } from '../creators/register-creator.js';
import { migrations } from '../migrations/index.js';
import { OidcServer } from '../oidc/oidc-server.js';
import { createClient } from '../registration/create-client.js';
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
  const config: AuthServerSettings = authServerSettings.parse({
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    PORT: port,
    INTERNAL_PORT: 0,
    DATABASE_URL: throughLine(stores.url, lines.postgres),
    DATABASE_POOL_SIZE: 10,
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
  const app = await startHttp((adapter, options) =>
    NestFactory.create(AuthServerModule.forRoot(config), adapter, options),
  );
  await app.get(DatabasePools).connect();
  await app.get(ServiceLifecycle).startTasks();
  const [database, redis, secrets] = [app.get(Database), app.get(RedisConnection), app.get(SecretBox)];
  const oidc = app.get(OidcServer);
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
      await app.close();
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
  const creator = (organisationId: string, name: string) =>
    registerCreator(database, outbox, {
      organisationId,
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
