/**
 * Who may do what at RabbitMQ and Redis: the one table from which the development set-up makes its users and the reference its commands
 * (ADR 23). Set-up reads this file as it is, before anything was compiled: it imports nothing of ours.
 */

/** What a service does at the stores. Facts are named by the first part of their types. */
interface StoreAccess {
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  /** Patterns of Redis keys; those of `readsKeys` are read only. */
  readonly keys: readonly string[];
  readonly readsKeys: readonly string[];
  /** The setting that holds the prefix of the service's BullMQ keys, and its default. */
  readonly jobKeys?: { readonly setting: string; readonly prefix: string };
}

export const storeAccess = {
  'store-api': {
    // Reports that waited for another are sent to their queue once more.
    publishes: ['order', 'product', 'fulfilment'],
    consumes: ['creator', 'edition', 'track', 'fulfilment', 'catalogue'],
    keys: ['rate:*', 'dpop-proof:*'],
    readsKeys: ['deny:*'],
  },
  'creator-api': {
    publishes: ['edition', 'track'],
    consumes: ['creator', 'order'],
    keys: ['rate:*', 'dpop-proof:*'],
    readsKeys: ['deny:*'],
    jobKeys: { setting: 'TRACK_UPLOAD_QUEUE_PREFIX', prefix: 'creator' },
  },
  'auth-server': {
    publishes: ['creator', 'client'],
    consumes: [],
    keys: ['rate:*', 'dpop-proof:*', 'deny:*', 'deny-list:*', 'answered:*'],
    readsKeys: [],
  },
  'webhook-worker': {
    publishes: ['webhook'],
    consumes: ['order', 'product', 'client'],
    keys: ['rate:*', 'dpop-proof:*'],
    readsKeys: ['deny:*'],
    jobKeys: { setting: 'WEBHOOK_QUEUE_PREFIX', prefix: 'webhooks' },
  },
} as const satisfies Record<string, StoreAccess>;

export type StoreUser = keyof typeof storeAccess | 'operator';
export const storeUsers: readonly StoreUser[] = [
  'store-api',
  'creator-api',
  'auth-server',
  'webhook-worker',
  'operator',
];

export interface BrokerPermissions {
  /** Regular expressions on the names of exchanges and queues. */
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  /** Regular expressions on the types of facts, at the exchange of facts. */
  readonly publishes: string;
  readonly binds: string;
}

const nothing = '^$';

/** What a user may do at RabbitMQ. A service reaches its own queues only; the operator reaches dead letters, and queues to replay to. */
export function brokerPermissions(user: StoreUser, namespace: string): BrokerPermissions {
  if (user === 'operator')
    return {
      configure: `^${namespace}\\..*\\.in-hand$`,
      write: `^(amq\\.default|${namespace}\\.facts)$`,
      read: `^${namespace}\\..*\\.dead$`,
      publishes: typesOf(['fulfilment', 'catalogue']),
      binds: nothing,
    };
  const { publishes, consumes } = storeAccess[user];
  return {
    configure: `^${namespace}\\.${user}\\.`,
    write: `^${namespace}\\.(facts$|${user}\\.)`,
    read: `^${namespace}\\.(facts$|${user}\\.)`,
    publishes: typesOf(publishes),
    binds: typesOf(consumes),
  };
}

/** Name of the exchange that the table is about. */
export function factsExchangeOf(namespace: string): string {
  return `${namespace}.facts`;
}

/**
 * The rules of a service's Redis user, without its name and password. INFO is what clients ask when they connect. Read-only keys need
 * Redis 7.
 * @param settings settings of the service by name; those that are absent have their defaults
 */
export function redisRules(
  user: keyof typeof storeAccess,
  settings: Readonly<Record<string, string>> = {},
): string[] {
  const { keys, readsKeys, jobKeys }: StoreAccess = storeAccess[user];
  const jobPatterns = jobKeys === undefined ? [] : [`${settings[jobKeys.setting] || jobKeys.prefix}:*`];
  return [
    ...[...keys, ...jobPatterns].map((pattern) => `~${pattern}`),
    ...readsKeys.map((pattern) => `%R~${pattern}`),
    'resetchannels',
    '+@all',
    '-@admin',
    '-@dangerous',
    '+info',
  ];
}

function typesOf(names: readonly string[]): string {
  return names.length === 0 ? nothing : `^(${names.join('|')})\\.`;
}
