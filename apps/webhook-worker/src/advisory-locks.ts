/**
 * Keys of the PostgreSQL advisory locks that serialise replicas. Any distinct numbers work, but all versions
 * of the service must use the same numbers. Libraries use 7391002 (migrations), 7391006 (partitions of the
 * inbox) and 7391060 (shards).
 */
export const advisoryLocks = {
  /** Creation and removal of day partitions. */
  dayPartitions: 7_391_051,
  /** Bulk updates of the deliveries of a subscription; the second key is the hash of its id. */
  bulkUpdates: 7_391_052,
  /** Expiry of deliveries that were held for too long. */
  expiry: 7_391_053,
} as const;

/** Seeds of `hashtextextended`: one for each kind of lock whose key is the hash of a text. */
export const lockSeeds = { subscriptionLimit: 50, accessRevocations: 51, recoveries: 52 } as const;
