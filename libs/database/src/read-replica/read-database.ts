import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { Counter } from '@fulfilment/runtime';
import { BatchLoader } from '../batch-loader.js';
import type { Database } from '../database.js';
import { timeoutName } from '../driver-errors.js';
import { ReplicaLag } from './replica-lag.js';
import { type Statement, statement } from '../sql.js';

const reads = new Counter({
  name: 'read_replica_reads_total',
  help: 'Reads that may use the read replica: run by it (replica), or by the primary because the replica lagged or could not be reached (lagging), or failed during the read (failed)',
  labelNames: ['outcome'],
});
const readConfirmedPosition = statement(
  'read-replica.confirmed-position',
  "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint AS position",
);
const readReplayedPosition = statement(
  'read-replica.replayed-position',
  "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint AS position WHERE pg_is_in_recovery()",
);

export interface ReadReplica {
  readonly database: Database;
  /** Time that a read waits for the replica before it uses the primary. */
  readonly maxLagMs: number;
  /** Whether it is connected, and verified to be a replica of the primary. */
  readonly isConnected: () => boolean;
}

/**
 * Runs reads on a replica, if there is one. A read sees every write that any process confirmed before it: it
 * uses the replica only if the replica has replayed these writes, and otherwise the primary (ADR 42).
 */
export class ReadDatabase {
  private readonly lag: ReplicaLag | undefined;

  constructor(
    private readonly primary: Database,
    private readonly replica?: ReadReplica,
  ) {
    if (replica === undefined) return;
    const positions = {
      primary: createPositionReader(primary, readConfirmedPosition),
      replayed: createPositionReader(replica.database, readReplayedPosition),
    };
    this.lag = new ReplicaLag(positions, replica.maxLagMs);
  }

  /** @param work only reads; runs a second time, on the primary, if the replica fails except by a timeout */
  async read<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    if (this.replica === undefined || this.lag === undefined) return work(this.primary);
    if (!this.replica.isConnected() || !(await this.lag.waitUntilCurrent())) {
      reads.inc({ outcome: 'lagging' });
      return work(this.primary);
    }
    try {
      const result = await work(this.replica.database);
      reads.inc({ outcome: 'replica' });
      return result;
    } catch (error) {
      if (!(error instanceof DependencyUnavailable) || timeoutName(error) !== undefined) throw error;
      reads.inc({ outcome: 'failed' });
      return work(this.primary);
    }
  }
}

/** Returns a function that reads a position. Concurrent calls share a statement, which starts after them. */
function createPositionReader(database: Database, position: Statement): () => Promise<number | undefined> {
  const loader = new BatchLoader<undefined, number>({
    run: async () => {
      const rows = await database.rows<{ position: number | null }>(position);
      return rows.map((row) => ({ index: 0, row: row.position ?? 0 }));
    },
    maxConcurrent: 2, // a call usually need not wait for the end of a statement that started before it
    dedupeKey: () => 'position',
  });
  return () => loader.load(undefined);
}
