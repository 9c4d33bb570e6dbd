import type { BrokerUser, ServiceName } from '@fulfilment/contracts/permissions';
import { join } from 'node:path';
import { databaseUrl } from './databases.ts';
import type { DependencyName } from '../dependencies/dependency.ts';
import type { Ports } from '../ports.ts';
import { runOrThrow } from '../run-program.ts';
import type { Secrets } from '../state/secrets.ts';
import { rabbitmqNamespace, root, type Settings } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';

export interface ServiceContext {
  readonly settings: Settings;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly dependencyUrls: Readonly<Record<DependencyName, string>>;
  /** File with the certificate authorities that the services trust. */
  readonly trustFile: string;
  /** Folder of the compiled code of a service, if not in this repository. */
  readonly codeDirs: ReadonlyMap<ServiceName, string>;
}

const probeTimeoutMs = 3_000;

/** URL of a store for a user. An external store has only the user of its URL. */
export function storeUserUrl(
  store: 'redis' | 'rabbitmq',
  user: BrokerUser,
  { settings, secrets, dependencyUrls }: Pick<ServiceContext, 'settings' | 'secrets' | 'dependencyUrls'>,
): string {
  if (settings.externalUrls[store] !== undefined) return dependencyUrls[store];
  const url = new URL(dependencyUrls[store]);
  url.username = user;
  url.password = user === 'warehouse' ? secrets.warehousePassword : secrets.storePasswords[user];
  return url.href;
}

export function baseUrl(ports: Ports): string {
  return `https://localhost:${ports.gateway}`;
}

/** Path of a compiled program of a service, such as `migrate.js`. */
export function servicePath(
  name: ServiceName,
  file: string,
  { codeDirs }: Pick<ServiceContext, 'codeDirs'>,
): string {
  return join(codeDirs.get(name) ?? root, 'apps', name, 'dist', file);
}

/** Plans the process of a service, with its readiness probe. */
export function servicePlan(name: ServiceName, context: ServiceContext): ProcessPlan {
  return {
    name,
    kind: 'service',
    program: process.execPath,
    // Evaluated at each start, since `Suite.useCode` may have changed the folder.
    get args() {
      return [...nodeArguments, servicePath(name, 'main.js', context)];
    },
    cwd: root,
    env: serviceEnvironment(name, context),
    stopTimeoutMs: 25_000, // more than the 20 s in which a service stops by itself
    ready: () => isReady(`http://127.0.0.1:${context.ports.services[name]}`),
  };
}

/** Runs the migrations of a service. */
export async function migrateService(name: ServiceName, context: ServiceContext): Promise<void> {
  await runOrThrow(process.execPath, [servicePath(name, 'migrate.js', context)], {
    cwd: root,
    env: serviceEnvironment(name, context),
  });
}

/**
 * Node options of a service. V8 defers garbage collection while memory is free: without the last two options,
 * services under load would grow to 400 MB of short-lived objects.
 */
export const nodeArguments = [
  '--enable-source-maps',
  // Above the gateway's limit, so that large headers get its error envelope, not Node's 431.
  '--max-http-header-size=40960',
  '--max-semi-space-size=16',
  '--max-old-space-size=192',
] as const;

/**
 * auth-server hashes passwords in four threads, with 19 MiB each. glibc would keep these blocks for the next
 * hash; with a fixed threshold it returns all large blocks to the system.
 */
export const mallocSettings = { MALLOC_MMAP_THRESHOLD_: '1048576' } as const;

/** Environment of a service. Settings of `npm start` override defaults, but not addresses of the suite. */
export function serviceEnvironment(name: ServiceName, context: ServiceContext): Record<string, string> {
  const { settings, ports, secrets, dependencyUrls } = context;
  const defaults = {
    ...mallocSettings,
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    ALLOW_LOOPBACK_TARGETS: 'true',
    PAYMENT_PROVIDER: 'sandbox',
    SECOND_FACTOR_FOR_GLOBAL_ADMINS: 'false', // the demo operator signs in with only a password
    CURSOR_SECRET: secrets.cursorSecret,
    KEY_ENCRYPTION_KEY: secrets.keyEncryptionKey,
    SECRET_ENCRYPTION_KEY: secrets.secretEncryptionKey,
    QUOTE_SIGNING_KEY: secrets.quoteSigningKey,
    COOKIE_KEYS: secrets.cookieKeys,
  };
  const addresses = {
    HOST: '127.0.0.1',
    PORT: String(ports.services[name]),
    INTERNAL_HOST: '127.0.0.1',
    INTERNAL_PORT: String(ports.internal[name]),
    DATABASE_URL: databaseUrl(dependencyUrls.postgres, name, settings, secrets),
    REDIS_URL: storeUserUrl('redis', name, context),
    RABBITMQ_URL: storeUserUrl('rabbitmq', name, context),
    RABBITMQ_NAMESPACE: rabbitmqNamespace(settings),
    BASE_URL: baseUrl(ports),
    AUTH_URL: baseUrl(ports),
    JWKS_URL: `http://127.0.0.1:${ports.services['auth-server']}/api/auth/jwks`,
    NODE_EXTRA_CA_CERTS: context.trustFile,
  };
  return { ...defaults, ...serviceSettings(settings.environment), ...addresses };
}

/** Removes the variables of npm and of the suite's commands, and empty values, which mean the default. */
function serviceSettings(environment: Readonly<Record<string, string>>): Record<string, string> {
  const commandVariable = /^(npm_|SUITE_|NODE_OPTIONS$|(POSTGRES|REDIS|RABBITMQ)_URL$)/;
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== '' && !commandVariable.test(name)),
  );
}

/** Whether the service at an origin is ready. */
export async function isReady(origin: string): Promise<boolean> {
  const response = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(probeTimeoutMs) });
  await response.body?.cancel();
  return response.ok;
}
