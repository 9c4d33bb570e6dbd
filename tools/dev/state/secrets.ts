import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeUsers } from '@fulfilment/contracts/permissions';
import { z } from 'zod';

const secretsSchema = z.object({
  postgresPassword: z.string(),
  redisPassword: z.string(),
  rabbitmqPassword: z.string(),
  databasePasswords: z.object({
    store: z.string(),
    creator: z.string(),
    auth: z.string(),
    webhooks: z.string(),
  }),
  /** Passwords of each service's user and of the operator at RabbitMQ and Redis. */
  storePasswords: z.record(z.enum(storeUsers), z.string()),
  /** Of the user at RabbitMQ for the program of a warehouse. */
  warehousePassword: z.string(),
  cursorSecret: z.string(),
  keyEncryptionKey: z.string(),
  secretEncryptionKey: z.string(),
  quoteSigningKey: z.string(),
  cookieKeys: z.string(),
});
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * Reads the secrets of a state directory, or creates them once, so that cursors, cookies and encrypted
 * columns stay valid after a restart.
 */
export function secretsIn(stateDir: string): Secrets {
  const file = join(stateDir, 'secrets.json');
  const stored: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  // Adds members that an earlier version did not have, but not members of `storePasswords`.
  const secrets = secretsSchema.parse(Object.assign(newSecrets(), stored));
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

function newSecrets(): Secrets {
  const password = (): string => randomBytes(18).toString('hex');
  const key = (): string => randomBytes(32).toString('base64');
  return {
    postgresPassword: password(),
    redisPassword: password(),
    rabbitmqPassword: password(),
    databasePasswords: { store: password(), creator: password(), auth: password(), webhooks: password() },
    storePasswords: {
      'store-api': password(),
      'creator-api': password(),
      'auth-server': password(),
      'webhook-worker': password(),
      operator: password(),
    },
    warehousePassword: password(),
    cursorSecret: key(),
    keyEncryptionKey: key(),
    secretEncryptionKey: key(),
    quoteSigningKey: key(),
    cookieKeys: password(),
  };
}
