import { join } from 'node:path';
import { eventually } from '../dev/eventually.ts';
import { dataFolder, type PostgresPair } from '../chaos/suite/postgres-pair.ts';
import { runSql } from '../dev/run-sql.ts';

/** Maximum time from a commit to the archiving of its segment. */
export const archiveTimeoutSeconds = 10;
const archivingTimeoutMs = 30_000;
const recoveryTimeoutMs = 300_000;
const pollIntervalMs = 500;
const restoredServerNumber = 3;

const archiveOf = (home: string): string => join(home, 'archive');

/** Settings of PostgreSQL that archive its write-ahead log. */
export function archiveSettings(home: string): string {
  const archived = join(archiveOf(home), '%f');
  // Renames the complete copy, so that a partial file never has the name of a segment.
  const command = `mkdir -p ${archiveOf(home)} && test ! -f ${archived} && cp %p ${archived}.part && mv ${archived}.part ${archived}`;
  return `archive_mode = on
archive_command = '${command}'
archive_timeout = ${archiveTimeoutSeconds}
`;
}

/** A base backup with the archived write-ahead log, of the server with the databases of all services. */
export class PointInTimeBackup {
  /** Longest time without an archived segment. A loss of the server would lose the commits of that time. */
  longestUnarchivedSeconds = 0;
  private readonly postgres: PostgresPair;
  private readonly base: string;
  private readonly archivingTimer: NodeJS.Timeout;

  static async take(postgres: PostgresPair): Promise<PointInTimeBackup> {
    const base = join(postgres.home, 'base-backup');
    await postgres.run('pg_basebackup', ['-D', base, '-d', postgres.primaryUrl, '-c', 'fast', '-X', 'none']);
    return new PointInTimeBackup(postgres, base);
  }

  private constructor(postgres: PostgresPair, base: string) {
    this.postgres = postgres;
    this.base = base;
    // A measurement that fails is repeated at the next interval.
    this.archivingTimer = setInterval(
      () => void this.measureArchiving().catch(() => undefined),
      pollIntervalMs,
    );
  }

  /** Waits until everything that is committed is archived. */
  async archiveAll(): Promise<void> {
    clearInterval(this.archivingTimer);
    const url = this.postgres.primaryUrl;
    const [row] = await runSql(url, 'SELECT pg_walfile_name(pg_switch_wal()) AS name');
    await eventually(
      async () => {
        const [archived] = await runSql(url, 'SELECT last_archived_wal AS name FROM pg_stat_archiver');
        return String(archived?.['name']) >= String(row?.['name']);
      },
      archivingTimeoutMs,
      'the write-ahead log is archived',
    );
  }

  /** Recovers all databases as they were at a time, in a new server. The old server keeps running. */
  async restore(time: Date) {
    const { home } = this.postgres;
    const data = dataFolder(home, restoredServerNumber);
    const startedAtMs = performance.now();
    await this.postgres.run('/bin/cp', ['-a', this.base, data]);
    await this.postgres.run('/usr/bin/touch', [join(data, 'recovery.signal')]);
    const copiedAtMs = performance.now();
    // `recovery_target_time` needs a numeric offset (+00) instead of Z. The last two settings replace copied
    // ones, which would archive into the same folder and wait for a standby.
    const url = await this.postgres.startServer(
      restoredServerNumber,
      data,
      `restore_command = 'cp ${join(archiveOf(home), '%f')} "%p"'
recovery_target_time = '${time.toISOString().replace('Z', '+00')}'
recovery_target_action = promote
archive_mode = off
synchronous_standby_names = ''
`,
    );
    const lastCommitAt = await eventually(
      async () => {
        const [row] = await runSql(
          url,
          'SELECT pg_is_in_recovery() AS recovers, pg_last_xact_replay_timestamp() AS at',
        );
        const at = row?.['at'];
        return row?.['recovers'] === false && at instanceof Date ? at : undefined;
      },
      recoveryTimeoutMs,
      'the restored server has been promoted',
    );
    return {
      /** URL of an administrator. */
      url,
      copySeconds: (copiedAtMs - startedAtMs) / 1_000,
      recoverySeconds: (performance.now() - copiedAtMs) / 1_000,
      /** Time of the last commit that was recovered. */
      lastCommitAt,
    };
  }

  private async measureArchiving(): Promise<void> {
    const [row] = await runSql(
      this.postgres.primaryUrl,
      'SELECT extract(epoch FROM now() - last_archived_time)::float8 AS age FROM pg_stat_archiver',
    );
    this.longestUnarchivedSeconds = Math.max(this.longestUnarchivedSeconds, Number(row?.['age'] ?? 0));
  }
}
