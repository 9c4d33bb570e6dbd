/**
 * Keys of PostgreSQL's advisory locks by which replicas take turns: any numbers, as long as no two are alike and all versions of the service have the
 * same. libs/database has 7391002, for migrations.
 */
export const advisoryLocks = {
  reconciler: 7_391_050,
  /** Partitions of days are made and dropped under it; migrations that change them hold it meanwhile. */
  dayPartitions: 7_391_051,
  /** With a second key, the hash of a subscription, it is about that one. */
  moves: 7_391_052,
  expiry: 7_391_053,
} as const;
