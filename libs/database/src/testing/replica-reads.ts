import { metrics } from '@fulfilment/runtime';
import type { Database, ReadReplica } from '../index.js';

/** Replaces the read replica of a service under test. Reads then use the primary, and are counted. */
export function absentReplica(database: Database): ReadReplica {
  return { database, maxLagMs: 1, isConnected: () => false };
}

/** Returns the value of `read_replica_reads_total` by outcome: reads that could use a read replica. */
export async function countReplicaReads(): Promise<Readonly<Record<string, number>>> {
  const values = (await metrics.getSingleMetric('read_replica_reads_total')?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['outcome']), value]));
}
