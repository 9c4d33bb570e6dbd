import {
  brokerPermissions,
  type BrokerUser,
  factsExchangeOf,
  redisRules,
  type ServiceName,
} from '@fulfilment/contracts/permissions';
import { createHash, randomBytes } from 'node:crypto';

const vhost = '/';

/** A user of RabbitMQ or Redis. Its owner is a service, the operator or the warehouse. */
interface StoreLogin<Owner extends BrokerUser = BrokerUser> {
  readonly owner: Owner;
  /** Differs from `owner` after a rotation with a second user (docs/runbook.md). */
  readonly user: string;
  readonly password: string;
}

/**
 * Returns the ACL file that Redis loads at its start, with hashes of the passwords.
 * @param settings settings of the services, some of which change prefixes of Redis keys; by default none
 */
export function redisUsers(
  administratorPassword: string,
  logins: readonly StoreLogin<ServiceName>[],
  settings: Readonly<Record<string, string>> = {},
): string {
  const lines = [
    `user default on #${sha256(administratorPassword).toString('hex')} ~* &* +@all`,
    ...logins.map(
      ({ owner, user, password }) =>
        `user ${user} on #${sha256(password).toString('hex')} ${redisRules(owner, settings).join(' ')}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the definitions that RabbitMQ loads at its start: users, permissions and the facts exchange. */
export function brokerDefinitions(
  administrator: Omit<StoreLogin, 'owner'>,
  logins: readonly StoreLogin[],
  namespace: string,
): string {
  const exchange = factsExchangeOf(namespace);
  const permissions = logins.map(({ owner, user }) => ({ user, ...brokerPermissions(owner, namespace) }));
  const definitions = {
    vhosts: [{ name: vhost }],
    users: [
      brokerUserDefinition(administrator, 'administrator'),
      ...logins.map((login) => brokerUserDefinition(login, '')),
    ],
    permissions: [
      { user: administrator.user, vhost, configure: '.*', write: '.*', read: '.*' },
      ...permissions.map(({ user, configure, write, read }) => ({ user, vhost, configure, write, read })),
    ],
    topic_permissions: permissions.map(({ user, topicWrite, topicRead }) => ({
      user,
      vhost,
      exchange,
      write: topicWrite,
      read: topicRead,
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

function brokerUserDefinition({ user, password }: Omit<StoreLogin, 'owner'>, tags: string) {
  const salt = randomBytes(4);
  const hash = sha256(Buffer.concat([salt, Buffer.from(password)]));
  return {
    name: user,
    password_hash: Buffer.concat([salt, hash]).toString('base64'),
    hashing_algorithm: 'rabbit_password_hashing_sha256',
    tags,
  };
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
