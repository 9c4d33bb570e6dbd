import { BenchDatabase } from '../bench-database.ts';

/** Advisory lock of the clean-up job of auth-server (tokens/delete-expired-records.ts). */
const cleanupLock = 7_391_004;

/** The database of an auth-server under measurement. */
export class AuthData extends BenchDatabase {
  /** Prevents the deletion of old rows until `unblockCleanup`. */
  async blockCleanup(): Promise<void> {
    await this.client.query('SELECT pg_advisory_lock($1)', [cleanupLock]);
  }

  async unblockCleanup(): Promise<void> {
    await this.client.query('SELECT pg_advisory_unlock($1)', [cleanupLock]);
  }

  /**
   * Adds tokens that expired an hour ago, as refreshes create them: half access tokens, half consumed refresh
   * tokens. Drops the indexes, and the constraints that own an index, and creates them afterwards, because
   * that is faster for millions of rows.
   */
  async addOldTokens(count: number): Promise<void> {
    const { client } = this;
    await client.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`);
    const indexes = await client.query<{ drop: string; create: string }>(
      `SELECT coalesce('ALTER TABLE oidc_model DROP CONSTRAINT ' || conname, 'DROP INDEX ' || indexrelid::regclass) AS drop,
              coalesce('ALTER TABLE oidc_model ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid),
                       pg_get_indexdef(indexrelid)) AS create
       FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid WHERE indrelid = 'oidc_model'::regclass`,
    );
    for (const { drop } of indexes.rows) await client.query(drop);
    await client.query(
      `INSERT INTO oidc_model (model, id, payload, grant_id, account_id, client_id, session_uid, consumed_at, created_at, expires_at)
       SELECT CASE WHEN number % 2 = 0 THEN 'AccessToken' ELSE 'RefreshToken' END, md5(number::text),
              sample.payload, 'old-' || number / 20, sample.account_id, sample.client_id, 'old-' || number / 20,
              CASE WHEN number % 2 = 0 THEN NULL ELSE now() - interval '2 hours' END, now() - interval '2 hours', now() - interval '1 hour'
       FROM generate_series(1, $1::integer) AS number,
            (SELECT payload, account_id, client_id FROM oidc_model WHERE model = 'RefreshToken' LIMIT 1) AS sample`,
      [count],
    );
    for (const { create } of indexes.rows) await client.query(create);
    await client.query('VACUUM ANALYZE oidc_model');
    await client.query('CHECKPOINT'); // so that these rows are not written out during the measurement
  }

  count(): Promise<number> {
    return this.readNumber('SELECT count(*) AS number FROM oidc_model');
  }
}
