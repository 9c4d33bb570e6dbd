import { serviceNames, type StoreUser, storeUsers } from '@fulfilment/contracts/permissions';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { selfSignedCertificate } from './certificate.ts';
import { databaseNames } from './databases.ts';
import { InvalidInput } from './settings.ts';
import { parseStoreUrl, type StoreUrl } from './store-url.ts';
import { brokerDefinitions, redisUsers } from './store-users.ts';

/** `host:port` of each store, as the services reach it. */
interface StoreAddresses {
  readonly postgres: string;
  readonly redis: string;
  readonly rabbitmq: string;
}

/** Contents of files by path. The folder of a path has the name of the container that gets the file. */
type Files = Readonly<Record<string, string>>;

/** Paths of the files with the URLs of the stores' administrators. */
const administratorUrlFiles = {
  postgres: 'bootstrap/postgres-admin-url',
  redis: 'bootstrap/redis-admin-url',
  rabbitmq: 'bootstrap/rabbitmq-admin-url',
} as const;

const certificateFile = 'gateway/tls.crt';
const certificateKeyFile = 'gateway/tls.key';

const passwordBytes = 24;
const keyBytes = 32; // of AES-256 and HMAC-SHA-256
/** Releases before ADR 72 kept the first value of each secret in this file. This release only reads it. */
const earlierFile = 'bootstrap/secrets.json';
const earlierSecrets = z
  .object({
    postgres: z.string(),
    redis: z.string(),
    rabbitmq: z.string(),
    databases: z.record(z.string(), z.string()),
    users: z.record(z.string(), z.string()),
    cursors: z.string(),
    keyEncryption: z.string(),
    secretEncryption: z.string(),
    quoteSigning: z.string(),
    cookies: z.string(),
    certificate: z.object({ certificate: z.string(), key: z.string() }),
  })
  .partial();
type EarlierSecrets = z.infer<typeof earlierSecrets>;

/**
 * Writes the secrets of a suite that are missing: one folder for each container that receives some. The
 * files are the only copy, and an operator may replace them: an existing secret is never changed (ADR 72).
 * The files that the stores load are derived from the secrets each time, with this release's permissions.
 * @param host host name of the public URL, for the certificate
 * @returns the paths of the secrets that were generated, and of those that existed
 * @throws InvalidInput if a secret is empty, a URL is invalid, one of the two files of the certificate is
 * missing, or `secrets.json` is damaged; nothing is then written
 */
export function writeSecrets(
  directory: string,
  stores: StoreAddresses,
  host: string,
): { readonly generated: readonly string[]; readonly kept: readonly string[] } {
  completeCertificate(directory);
  const initial = initialSecrets(stores, host, readEarlierSecrets(directory));
  const paths = Object.keys(initial);
  const kept = paths.filter((path) => existsSync(join(directory, path)));
  const generated = paths.filter((path) => !kept.includes(path));
  assertUsable(directory, kept);
  const keptUrls = kept
    .filter(isUrlFile)
    .map((path) => [path, readFileSync(join(directory, path), 'utf8')] as const);
  const derived = deriveStoreFiles({ ...initial, ...Object.fromEntries(keptUrls) });
  writeFiles(directory, Object.fromEntries(generated.map((path) => [path, initial[path] ?? ''])));
  writeFiles(directory, derived);
  return { generated, kept };
}

/** Completes a run that was interrupted after it had written the key of the certificate. */
function completeCertificate(directory: string): void {
  const file = join(directory, certificateFile);
  const isInterrupted = existsSync(join(directory, certificateKeyFile)) && !existsSync(file);
  if (isInterrupted && existsSync(draftOf(file))) renameSync(draftOf(file), file);
}

/**
 * Opens no file: an operator may have made a secret readable only for its container.
 * @throws InvalidInput if a kept file is empty, or one of the two files of the certificate is missing
 */
function assertUsable(directory: string, kept: readonly string[]): void {
  const empty = kept.find((path) => statSync(join(directory, path)).size === 0);
  // Not replaced: if a failed copy left the empty file, the old secret may still be needed to decrypt data.
  if (empty !== undefined)
    throw new InvalidInput(`${empty} is empty. Restore it, or delete it to have a new one generated.`);
  if (kept.filter((path) => path.startsWith('gateway/tls.')).length === 1)
    throw new InvalidInput(
      'One of gateway/tls.crt and gateway/tls.key is missing. Add it, or delete both to have them generated.',
    );
}

function readEarlierSecrets(directory: string): EarlierSecrets {
  const file = join(directory, earlierFile);
  if (!existsSync(file)) return {};
  try {
    return earlierSecrets.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new InvalidInput(`${earlierFile} is damaged. Restore it, or delete it if no secret is missing.`);
  }
}

/** Returns a value for every secret: the one in `secrets.json` of an earlier version, else a new one. */
function initialSecrets(stores: StoreAddresses, host: string, earlier: EarlierSecrets): Files {
  const password = (): string => randomBytes(passwordBytes).toString('hex');
  const key = (): string => randomBytes(keyBytes).toString('base64');
  const brokerUrl = (user: StoreUser): string =>
    `amqp://${user}:${earlier.users?.[user] ?? password()}@${stores.rabbitmq}/%2F`;
  const { certificate, key: certificateKey } = earlier.certificate ?? selfSignedCertificate(host, new Date());
  const secrets: Record<string, string> = {
    [administratorUrlFiles.postgres]: `postgres://suite:${earlier.postgres ?? password()}@${stores.postgres}/postgres`,
    [administratorUrlFiles.redis]: `redis://default:${earlier.redis ?? password()}@${stores.redis}/0`,
    [administratorUrlFiles.rabbitmq]: `amqp://suite:${earlier.rabbitmq ?? password()}@${stores.rabbitmq}/%2F`,
    'operator/rabbitmq-url': brokerUrl('operator'),
    [certificateKeyFile]: certificateKey, // before the certificate (`completeCertificate`)
    [certificateFile]: certificate,
    'store-api/cursor-secret': earlier.cursors ?? key(),
    'store-api/quote-signing-key': earlier.quoteSigning ?? key(),
    'creator-api/cursor-secret': earlier.cursors ?? key(),
    'webhook-worker/cursor-secret': earlier.cursors ?? key(),
    'webhook-worker/secret-encryption-key': earlier.secretEncryption ?? key(),
    'auth-server/key-encryption-key': earlier.keyEncryption ?? key(),
    'auth-server/cookie-keys': earlier.cookies ?? key(),
  };
  for (const service of serviceNames) {
    const name = databaseNames[service];
    const databasePassword = earlier.databases?.[service] ?? password();
    secrets[`${service}/database-url`] = `postgres://${name}:${databasePassword}@${stores.postgres}/${name}`;
    secrets[`${service}/redis-url`] =
      `redis://${service}:${earlier.users?.[service] ?? password()}@${stores.redis}/0`;
    secrets[`${service}/rabbitmq-url`] = brokerUrl(service);
  }
  return secrets;
}

/**
 * Returns the files that the stores load, and the URLs from which the command `databases` sets the passwords
 * in PostgreSQL. So each store accepts the user and password in the URL of a service.
 */
function deriveStoreFiles(secrets: Files): Files {
  const login = (path: string): StoreUrl => loginOf(path, secrets[path] ?? '');
  const redis = serviceNames.map((owner) => ({ owner, ...login(`${owner}/redis-url`) }));
  const rabbitmq = storeUsers.map((owner) => ({ owner, ...login(`${owner}/rabbitmq-url`) }));
  const files: Record<string, string> = {
    'postgres/password': login(administratorUrlFiles.postgres).password,
    'redis/users.acl': redisUsers(login(administratorUrlFiles.redis).password, redis),
    'rabbitmq/definitions.json': brokerDefinitions(login(administratorUrlFiles.rabbitmq), rabbitmq, 'suite'),
  };
  for (const service of serviceNames) {
    const path = `${service}/database-url`;
    login(path); // throws if it is invalid
    files[`bootstrap/${service}-database-url`] = secrets[path] ?? '';
  }
  return files;
}

function isUrlFile(path: string): boolean {
  return path.endsWith('-url');
}

function loginOf(path: string, text: string): StoreUrl {
  const url = parseStoreUrl(text.trim());
  if (!url?.user || !url.password)
    throw new InvalidInput(
      `${path} must contain a URL with a user and a password, each percent-encoded. Correct or delete it.`,
    );
  return url;
}

/**
 * Writes the drafts of all files, then renames them in the given order. Every user can read the files: the
 * folder that a container mounts decides which files it may read.
 */
function writeFiles(directory: string, files: Files): void {
  const entries = Object.entries(files).map(([path, text]) => ({ file: join(directory, path), text }));
  for (const { file, text } of entries) {
    mkdirSync(dirname(file), { recursive: true });
    rmSync(draftOf(file), { force: true }); // an interrupted run left it, and it is read-only
    writeFileSync(draftOf(file), text, { mode: 0o444, flush: true }); // a crash must leave no empty secret
  }
  for (const { file } of entries) renameSync(draftOf(file), file);
}

function draftOf(file: string): string {
  return `${file}.new`;
}
