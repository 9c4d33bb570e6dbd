import { storeUsers } from '@fulfilment/contracts/permissions';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { selfSignedCertificate } from './certificate.ts';
import { serviceNames } from './databases.ts';
import { brokerDefinitions, redisUsers } from './store-users.ts';

const secretsSchema = z.object({
  postgres: z.string(),
  redis: z.string(),
  rabbitmq: z.string(),
  databases: z.record(z.enum(serviceNames), z.string()),
  users: z.record(z.enum(storeUsers), z.string()),
  cursors: z.string(),
  keyEncryption: z.string(),
  secretEncryption: z.string(),
  quoteSigning: z.string(),
  cookies: z.string(),
  certificate: z.object({ certificate: z.string(), key: z.string() }),
});
type Secrets = z.infer<typeof secretsSchema>;

/** `host:port` of each store, as the services reach it. */
export interface StoreAddresses {
  readonly postgres: string;
  readonly redis: string;
  readonly rabbitmq: string;
}

/** Databases of the services: the role has the same name. */
export const databaseNames = {
  'store-api': 'store',
  'creator-api': 'creator',
  'auth-server': 'auth',
  'webhook-worker': 'webhooks',
} as const;

/**
 * Writes the secrets of a suite: one folder for each container that receives some. They are generated once,
 * into `bootstrap/secrets.json`; the other files are derived from it each time, so a run may be repeated.
 * @param host of the public URL, for the certificate
 */
export function writeSecrets(directory: string, stores: StoreAddresses, host: string): void {
  const secrets = loadSecrets(join(directory, 'bootstrap', 'secrets.json'), host);
  for (const [path, text] of Object.entries(secretFiles(secrets, stores)))
    writeAtomically(join(directory, path), text);
}

/** Reads the stored secrets, and generates and stores those that are missing. */
function loadSecrets(file: string, host: string): Secrets {
  const stored: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = secretsSchema.parse(Object.assign(newSecrets(host), stored));
  writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

function newSecrets(host: string): Record<keyof Secrets, unknown> {
  const password = (): string => randomBytes(24).toString('hex');
  const key = (): string => randomBytes(32).toString('base64');
  return {
    postgres: password(),
    redis: password(),
    rabbitmq: password(),
    databases: Object.fromEntries(serviceNames.map((name) => [name, password()])),
    users: Object.fromEntries(storeUsers.map((name) => [name, password()])),
    cursors: key(),
    keyEncryption: key(),
    secretEncryption: key(),
    quoteSigning: key(),
    cookies: key(),
    certificate: selfSignedCertificate(host, new Date()),
  };
}

/** Contents of the files by path. A container receives only its own folder. */
function secretFiles(secrets: Secrets, stores: StoreAddresses): Record<string, string> {
  const brokerUrl = (user: keyof Secrets['users']): string =>
    `amqp://${user}:${secrets.users[user]}@${stores.rabbitmq}/%2F`;
  const databaseUrl = (service: (typeof serviceNames)[number]): string =>
    `postgres://${databaseNames[service]}:${secrets.databases[service]}@${stores.postgres}/${databaseNames[service]}`;
  const files: Record<string, string> = {
    'postgres/password': secrets.postgres,
    'redis/users.acl': redisUsers({ administrator: secrets.redis, users: secrets.users }),
    'rabbitmq/definitions.json': brokerDefinitions(
      { administrator: secrets.rabbitmq, users: secrets.users },
      'suite',
      'suite',
    ),
    'gateway/tls.crt': secrets.certificate.certificate,
    'gateway/tls.key': secrets.certificate.key,
    'bootstrap/postgres-admin-url': `postgres://suite:${secrets.postgres}@${stores.postgres}/postgres`,
    'operator/rabbitmq-url': brokerUrl('operator'),
    'store-api/cursor-secret': secrets.cursors,
    'store-api/quote-signing-key': secrets.quoteSigning,
    'creator-api/cursor-secret': secrets.cursors,
    'webhook-worker/cursor-secret': secrets.cursors,
    'webhook-worker/secret-encryption-key': secrets.secretEncryption,
    'auth-server/key-encryption-key': secrets.keyEncryption,
    'auth-server/cookie-keys': secrets.cookies,
  };
  for (const service of serviceNames) {
    files[`${service}/database-url`] = databaseUrl(service);
    files[`bootstrap/${service}-database-url`] = databaseUrl(service);
    files[`${service}/redis-url`] = `redis://${service}:${secrets.users[service]}@${stores.redis}/0`;
    files[`${service}/rabbitmq-url`] = brokerUrl(service);
  }
  return files;
}

/** Readable by every user: which container may read a file is decided by the folder that it mounts. */
function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(`${path}.new`, { force: true }); // an interrupted run left it, and it is read-only
  writeFileSync(`${path}.new`, text, { mode: 0o444 });
  renameSync(`${path}.new`, path);
}
