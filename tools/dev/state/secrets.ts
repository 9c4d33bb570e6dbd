import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const password = z.string().default(() => randomBytes(18).toString('hex'));
const key = z.string().default(() => randomBytes(32).toString('base64'));

/** Creates the members that the file does not have. */
const secretsSchema = z.object({
  postgresPassword: password,
  redisPassword: password,
  rabbitmqPassword: password,
  databasePasswords: z
    .object({ store: password, creator: password, auth: password, webhooks: password })
    .prefault({}),
  /** Passwords of each service's user and of the operator at RabbitMQ and Redis. */
  storePasswords: z
    .object({
      'store-api': password,
      'creator-api': password,
      'auth-server': password,
      'webhook-worker': password,
      operator: password,
    })
    .prefault({}),
  /** Password of the RabbitMQ user for the program of a warehouse. */
  warehousePassword: password,
  cursorSecret: key,
  keyEncryptionKey: key,
  secretEncryptionKey: key,
  quoteSigningKey: key,
  cookieKeys: password,
});
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * Reads the secrets of a state directory, or creates them once, so that cursors, cookies and encrypted
 * columns stay valid after a restart.
 */
export function readOrCreateSecrets(stateDir: string): Secrets {
  const file = join(stateDir, 'secrets.json');
  const stored: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = secretsSchema.parse(stored);
  // Does not write an unchanged file: an interrupted write would lose the passwords of existing databases.
  if (JSON.stringify(secrets) !== JSON.stringify(stored))
    writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}
