import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { migrations } from '../migrations/index.js';
import { testStatement } from '../test/test-statement.fixture.js';
import { maintainAuditPartitions } from './audit-partitions.js';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await scratchDatabase(migrations);
});
afterAll(() => scratch.drop());

const sql = <Row extends Record<string, unknown>>(text: string) =>
  scratch.database.rows<Row>(testStatement(text));
const maintain = ({ retentionDays }: { readonly retentionDays: number }) =>
  maintainAuditPartitions(scratch.database, retentionDays);
const partitionNames = async () =>
  (
    await sql<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_log'::regclass ORDER BY 1`,
    )
  ).map(({ name }) => name);

describe('the monthly partitions of the audit log', () => {
  it('exist for three months ahead, and concurrent maintenance adds no duplicates', async () => {
    await maintain({ retentionDays: 400 });
    const before = await partitionNames();
    await Promise.all([1, 2, 3].map(() => maintain({ retentionDays: 400 })));
    expect(await partitionNames()).toEqual(before);
    const [future] = await sql<{ name: string }>(
      `INSERT INTO audit_log (at, event) VALUES (now() + interval '3 months', 'future') RETURNING tableoid::regclass::text AS name`,
    );
    expect(before).toContain(future?.name);
  });

  it('reject UPDATE, DELETE and TRUNCATE, as the whole table does', async () => {
    for (const table of ['audit_log', ...(await partitionNames())])
      for (const change of [`UPDATE ${table} SET ip = NULL`, `DELETE FROM ${table}`, `TRUNCATE ${table}`])
        await expect(sql(change)).rejects.toThrow('audit_log only grows');
  });

  it('are dropped only when all their records are older than the retention', async () => {
    await sql(`CREATE TABLE audit_log_old (LIKE audit_log INCLUDING ALL)`);
    const monthAgo = (months: number) =>
      `date_trunc('month', now() AT TIME ZONE 'UTC') - interval '${months} months'`;
    const [bounds] = await sql<{ starts: string; ends: string }>(
      `SELECT (${monthAgo(3)})::text AS starts, (${monthAgo(2)})::text AS ends`,
    );
    // audit_log_earlier covers all months until the current one, so audit_log_old would overlap it.
    await sql('ALTER TABLE audit_log DETACH PARTITION audit_log_earlier');
    await sql(
      `ALTER TABLE audit_log ATTACH PARTITION audit_log_old FOR VALUES FROM ('${bounds?.starts}+00') TO ('${bounds?.ends}+00')`,
    );
    await sql(`INSERT INTO audit_log (at, event) VALUES ('${bounds?.starts}+00', 'old')`);
    // The month of audit_log_old ended 59 to 92 days ago.
    await maintain({ retentionDays: 100 });
    expect(await partitionNames()).toContain('audit_log_old');
    await maintain({ retentionDays: 30 });
    expect(await partitionNames()).not.toContain('audit_log_old');
  });
});
