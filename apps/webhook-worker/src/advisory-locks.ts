/**
 * Keys of the PostgreSQL advisory locks that serialise replicas. Any distinct numbers work, but all versions
 * of the service must use the same. Locks of libraries: 7391002 for migrations,
 * 7391006 for partitions of the inbox, 7391060 for shards.
 */
export const advisoryLocks = {
  /** Held while day partitions are created or dropped. */
  dayPartitions: 7_391_051,
  /** Locks a subscription, with the hash of its id as second key. */
  bulkUpdates: 7_391_052,
  /** Held while deliveries that were held for too long expire. */
  expiry: 7_391_053,
} as const;

/** Seeds of `hashtextextended`: one for each kind of lock whose key is the hash of a text. */
export const lockSeeds = { subscriptionLimit: 50, accessRevocations: 51, recoveries: 52 } as const;
