/**
 * The permissions of the users of RabbitMQ and Redis (ADR 23), for the development set-up and the commands in
 * the reference. Set-up runs this file before the build, so it imports no code of the project.
 */

export const serviceNames = ['store-api', 'creator-api', 'auth-server', 'webhook-worker'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The access of a service to RabbitMQ and Redis. Messages are listed by the first part of their type. */
interface StoreAccess {
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  /** Patterns of Redis keys. */
  readonly keys: readonly string[];
  readonly readOnlyKeys: readonly string[];
  /** The setting that holds the prefix of the service's BullMQ keys, and its default. */
  readonly jobKeys?: { readonly setting: string; readonly prefix: string };
}

const storeAccess: Readonly<Record<ServiceName, StoreAccess>> = {
  'store-api': {
    // Deferred fulfilment events are published to their queue again.
    publishes: ['order', 'product', 'fulfilment'],
    consumes: ['creator', 'edition', 'track', 'fulfilment', 'catalogue'],
    keys: ['rate:*', 'dpop-proof:*'],
    readOnlyKeys: ['deny:*'],
  },
  'creator-api': {
    publishes: ['edition', 'track'],
    consumes: ['creator', 'order'],
    // `creator:*` is for replicas of version 1.0.0, which run during an upgrade (ADR 75).
    keys: ['rate:*', 'dpop-proof:*', 'creator:*'],
    readOnlyKeys: ['deny:*'],
  },
  'auth-server': {
    publishes: ['creator', 'client'],
    consumes: [],
    // `answered:*` are the times of responses to token requests.
    keys: ['rate:*', 'dpop-proof:*', 'deny:*', 'deny-list:*', 'answered:*'],
    readOnlyKeys: [],
  },
  'webhook-worker': {
    publishes: ['webhook'],
    consumes: ['order', 'product', 'client'],
    keys: ['rate:*', 'dpop-proof:*'],
    readOnlyKeys: ['deny:*'],
    jobKeys: { setting: 'WEBHOOK_QUEUE_PREFIX', prefix: 'webhooks' },
  },
};

/** The services, and the operator's commands, which have no user of Redis. */
export const storeUsers = [...serviceNames, 'operator'] as const;
export type StoreUser = (typeof storeUsers)[number];

/** The system that produces and ships orders. It has no user of Redis (docs/warehouses.md). */
const warehouseAccess = { publishes: ['fulfilment'], consumes: ['order'] } as const;

/** The users of RabbitMQ. Only the development set-up creates one for the warehouse. */
export type BrokerUser = StoreUser | 'warehouse';

export interface BrokerPermissions {
  /** Regular expressions on the names of exchanges and queues. */
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  /** Regular expressions on message types at the facts exchange. */
  readonly topicWrite: string;
  readonly topicRead: string;
}

const matchesNothing = '^$';

/**
 * Returns the RabbitMQ permissions of a user. A service or warehouse can access only its own queues and the
 * facts exchange. The operator can read dead-letter queues, send messages to any queue, and create the locks
 * of replays (`.in-hand`).
 */
export function brokerPermissions(user: BrokerUser, namespace: string): BrokerPermissions {
  if (user === 'operator')
    return {
      configure: `^${namespace}\\..*\\.in-hand$`,
      write: `^(amq\\.default|${namespace}\\.facts)$`,
      read: `^${namespace}\\..*\\.dead$`,
      topicWrite: typePattern(['fulfilment', 'catalogue']),
      topicRead: matchesNothing,
    };
  const { publishes, consumes } = user === 'warehouse' ? warehouseAccess : storeAccess[user];
  return {
    configure: `^${namespace}\\.${user}\\.`,
    write: `^${namespace}\\.(facts$|${user}\\.)`,
    read: `^${namespace}\\.(facts$|${user}\\.)`,
    topicWrite: typePattern(publishes),
    topicRead: typePattern(consumes),
  };
}

/** Returns the name of the exchange to which services publish messages. */
export function factsExchangeOf(namespace: string): string {
  return `${namespace}.facts`;
}

/**
 * Returns the ACL rules of a service's Redis user, without its name and password. Read-only keys (`%R`)
 * require Redis 7.
 * @param settings settings of the service by name; absent settings have their defaults
 */
export function redisRules(user: ServiceName, settings: Readonly<Record<string, string>> = {}): string[] {
  const { keys, readOnlyKeys, jobKeys } = storeAccess[user];
  const jobPatterns = jobKeys === undefined ? [] : [`${settings[jobKeys.setting] || jobKeys.prefix}:*`];
  return [
    ...[...keys, ...jobPatterns].map((pattern) => `~${pattern}`),
    ...readOnlyKeys.map((pattern) => `%R~${pattern}`),
    'resetchannels',
    '+@all',
    '-@admin',
    '-@dangerous',
    '+info', // one of @dangerous, but clients send it when they connect
  ];
}

function typePattern(names: readonly string[]): string {
  return names.length === 0 ? matchesNothing : `^(${names.join('|')})\\.`;
}
