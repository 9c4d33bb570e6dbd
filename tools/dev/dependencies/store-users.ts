import {
  brokerPermissions,
  factsExchangeOf,
  redisRules,
  storeUsers,
  type StoreUser,
} from '@fulfilment/contracts/permissions';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rabbitmqNamespace } from '../services.ts';
import type { Site } from './dependency.ts';

/** Mode of the files, which containers read as other users; they contain hashes of random passwords. */
const readableByAll = 0o644;
const vhost = '/';

/** Writes the users that Redis loads at its start. @returns the path of the file */
export function writeRedisUsers(site: Site): string {
  const { storePasswords, redisPassword } = site.secrets;
  const { environment } = site.settings;
  const services = storeUsers.filter((user) => user !== 'operator');
  const lines = [
    `user default on #${sha256(redisPassword).toString('hex')} ~* &* +@all`,
    ...services.map(
      (name) =>
        `user ${name} on #${sha256(storePasswords[name]).toString('hex')} ${redisRules(name, environment).join(' ')}`,
    ),
  ];
  return writeFile(site, 'users.acl', `${lines.join('\n')}\n`);
}

/**
 * Writes the users, permissions and the facts exchange that RabbitMQ loads at its start.
 * @returns the path of the file
 */
export function writeBrokerDefinitions(site: Site): string {
  const { storePasswords, rabbitmqPassword } = site.secrets;
  const namespace = rabbitmqNamespace(site.settings);
  const exchange = factsExchangeOf(namespace);
  const permissions = storeUsers.map((user) => ({ user, ...brokerPermissions(user, namespace) }));
  const definitions = {
    vhosts: [{ name: vhost }],
    users: [
      brokerUser('suite', rabbitmqPassword, 'administrator'),
      ...storeUsers.map((user) => brokerUser(user, storePasswords[user], '')),
    ],
    permissions: [
      { user: 'suite', vhost, configure: '.*', write: '.*', read: '.*' },
      ...permissions.map(({ user, configure, write, read }) => ({ user, vhost, configure, write, read })),
    ],
    topic_permissions: permissions.map(({ user, publishes, binds }) => ({
      user,
      vhost,
      exchange,
      write: publishes,
      read: binds,
    })),
    exchanges: [
      {
        name: exchange,
        vhost,
        type: 'topic',
        durable: true,
        auto_delete: false,
        internal: false,
        arguments: {},
      },
    ],
  };
  return writeFile(site, 'definitions.json', `${JSON.stringify(definitions, null, 2)}\n`);
}

function brokerUser(name: StoreUser | 'suite', password: string, tags: string) {
  const salt = randomBytes(4);
  const hash = sha256(Buffer.concat([salt, Buffer.from(password)]));
  return {
    name,
    password_hash: Buffer.concat([salt, hash]).toString('base64'),
    hashing_algorithm: 'rabbit_password_hashing_sha256',
    tags,
  };
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}

function writeFile(site: Site, name: string, text: string): string {
  const directory = join(site.settings.stateDir, 'store-users');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  writeFileSync(file, text, { mode: readableByAll });
  return file;
}
