import {
  brokerPermissions,
  type BrokerUser,
  factsExchangeOf,
  redisRules,
  storeUsers,
  type StoreUser,
} from '@fulfilment/contracts/permissions';
import { createHash, randomBytes } from 'node:crypto';

const vhost = '/';

/** Users at one store and their passwords. */
export interface StorePasswords {
  readonly administrator: string;
  readonly users: Readonly<Record<StoreUser, string>>;
  /**
   * Names of the users that differ from the keys of `users`: the rotation of a password may replace a user by
   * another one (docs/runbook.md).
   */
  readonly names?: Readonly<Partial<Record<BrokerUser, string | undefined>>>;
  /** Password of the warehouse's user at RabbitMQ, if it has one. */
  readonly warehouse?: string;
}

/** The operator has no user of Redis. */
type RedisPasswords = Omit<StorePasswords, 'users'> & {
  readonly users: Readonly<Record<Exclude<StoreUser, 'operator'>, string>>;
};

/**
 * Returns the ACL file that Redis loads at its start, with hashes of the passwords.
 * @param settings settings of the services that change the prefixes of their Redis keys; by default none
 */
export function redisUsers(
  { administrator, users, names = {} }: RedisPasswords,
  settings: Readonly<Record<string, string>> = {},
): string {
  const services = storeUsers.filter((user) => user !== 'operator');
  const lines = [
    `user default on #${sha256(administrator).toString('hex')} ~* &* +@all`,
    ...services.map(
      (user) =>
        `user ${names[user] ?? user} on #${sha256(users[user]).toString('hex')} ${redisRules(user, settings).join(' ')}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the definitions that RabbitMQ loads at its start: users, permissions and the facts exchange. */
export function brokerDefinitions(
  { administrator, users, names = {}, warehouse }: StorePasswords,
  { namespace, administratorName }: { readonly namespace: string; readonly administratorName: string },
): string {
  const exchange = factsExchangeOf(namespace);
  const passwords: [BrokerUser, string][] = storeUsers.map((user) => [user, users[user]]);
  if (warehouse !== undefined) passwords.push(['warehouse', warehouse]);
  const permissions = passwords.map(([user]) => ({
    user: names[user] ?? user,
    ...brokerPermissions(user, namespace),
  }));
  const definitions = {
    vhosts: [{ name: vhost }],
    users: [
      brokerUser({ name: administratorName, password: administrator, tags: 'administrator' }),
      ...passwords.map(([user, password]) => brokerUser({ name: names[user] ?? user, password, tags: '' })),
    ],
    permissions: [
      { user: administratorName, vhost, configure: '.*', write: '.*', read: '.*' },
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
  return `${JSON.stringify(definitions, null, 2)}\n`;
}

function brokerUser({ name, password, tags }: { name: string; password: string; tags: string }) {
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
