import { buildConcurrently, changeWithLockTimeout } from '../index.js';
import { storeUrl } from '@fulfilment/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { findBlockingMigrations } from './index.js';
import { withClient } from './with-client.js';

class Tables1700000000000 implements MigrationInterface {
  readonly name = 'Tables1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE one (id int PRIMARY KEY, word text); CREATE TABLE other (id int PRIMARY KEY)',
    );
    await runner.query("CREATE INDEX one_word ON one (word); INSERT INTO one VALUES (1, 'a')");
  }
  async down(): Promise<void> {}
}

/** A second migration, in or outside of a transaction. */
function changeMigration(transaction: boolean, up: (runner: QueryRunner) => Promise<unknown>) {
  return class implements MigrationInterface {
    readonly name = 'Change1700000000001';
    readonly transaction = transaction;
    async up(runner: QueryRunner): Promise<void> {
      await up(runner);
    }
    async down(): Promise<void> {}
  };
}
const problemsOf = (transaction: boolean, up: (runner: QueryRunner) => Promise<unknown>) =>
  findBlockingMigrations([Tables1700000000000, changeMigration(transaction, up)]);
const run = (statements: string) => (runner: QueryRunner) => runner.query(statements);

describe('findBlockingMigrations', () => {
  it.each([
    ['an index that is not built CONCURRENTLY', 'CREATE INDEX one_again ON one (word)'],
    ['a constraint that is validated at once', "ALTER TABLE one ADD CONSTRAINT short CHECK (word <> '')"],
    [
      'a column that rewrites its table',
      'ALTER TABLE one ADD COLUMN at timestamptz DEFAULT clock_timestamp()',
    ],
    ['a column of another type', 'ALTER TABLE one ALTER COLUMN id TYPE bigint'],
    [
      'NOT NULL for a column that has no validated constraint',
      'ALTER TABLE one ALTER COLUMN word SET NOT NULL',
    ],
  ])('reports %s, in the transaction of the migration and in one of its own', async (_, statements) => {
    const problems = ['Change1700000000001 reads all of one while it blocks one'];
    expect(await problemsOf(true, run(statements))).toEqual(problems);
    expect(await problemsOf(false, (runner) => changeWithLockTimeout(runner, statements))).toEqual(problems);
  });

  it('reports a full read of one table while another is locked', async () => {
    const statements =
      "ALTER TABLE other ADD COLUMN word text; UPDATE one SET word = word || '' WHERE word IS NOT NULL";
    expect(await problemsOf(true, run(statements))).toEqual([
      'Change1700000000001 reads all of one while it blocks other',
    ]);
  });

  it('reports a migration that waits for a lock and blocks others during that time', async () => {
    const change = changeMigration(false, async (runner) => {
      await runner.query('SET lock_timeout = 0');
      await runner.query('ALTER TABLE one ADD COLUMN note text');
      await runner.query("SET lock_timeout = '1500ms'");
    });
    const migrations = [Tables1700000000000, change];
    const [waitsForEver, ...others] = await findBlockingMigrations(migrations, { trafficTimeout: '500ms' });
    expect(waitsForEver).toBe('Change1700000000001 waits for locks without a lock_timeout');
    expect(others).toEqual(['Change1700000000001 blocks one for longer than 500ms (55P03)']);
  });

  it('reports a migration that may wait for a lock for longer than a request can wait', async () => {
    const problems = await problemsOf(true, async (runner) => {
      await runner.query("SET LOCAL lock_timeout = '10s'");
      await runner.query('ALTER TABLE one ADD COLUMN note text');
    });
    expect(problems).toEqual(['Change1700000000001 waits for locks for up to 10000 ms']);
  });

  it('reports no problem for changes that hold their locks briefly', async () => {
    const problems = await problemsOf(false, async (runner) => {
      await changeWithLockTimeout(runner, 'CREATE TABLE third (id int PRIMARY KEY REFERENCES one)');
      await runner.query('CREATE INDEX third_id ON third (id)');
      await changeWithLockTimeout(runner, "ALTER TABLE one ADD COLUMN note text NOT NULL DEFAULT ''");
      await changeWithLockTimeout(
        runner,
        "ALTER TABLE one ADD CONSTRAINT noted CHECK (note <> 'x') NOT VALID",
      );
      await runner.query('ALTER TABLE one VALIDATE CONSTRAINT noted');
      await buildConcurrently(runner, 'one_note', 'INDEX', 'one (note)');
    });
    expect(problems).toEqual([]);
  });

  it('reports a change in a DO block outside of a transaction', async () => {
    const change = changeMigration(false, async (runner) => {
      await runner.query('SET lock_timeout = 0'); // the traffic may delay the block for longer than 1.5 s
      await runner.query('DO $$ BEGIN ALTER TABLE one ALTER COLUMN id TYPE bigint; END $$');
      await runner.query("SET lock_timeout = '1500ms'");
    });
    const problems = await findBlockingMigrations([Tables1700000000000, change], { trafficTimeout: '500ms' });
    expect(problems).toContain('Change1700000000001 reads all of one while it blocks one');
  });

  it('rejects and drops its database when the simulated writes cannot connect', async () => {
    let database = '';
    class Closing1700000000000 extends Tables1700000000000 {
      override async up(runner: QueryRunner): Promise<void> {
        await super.up(runner);
        database = (await runner.getCurrentDatabase()) ?? '';
        await administer(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
      }
    }
    const problems = findBlockingMigrations([Closing1700000000000, changeMigration(true, run('SELECT 1'))]);
    await expect(problems).rejects.toThrow('not currently accepting connections');
    const { rowCount } = await administer(`SELECT FROM pg_database WHERE datname = '${database}'`);
    expect(rowCount).toBe(0);
  });
});

const administer = (sql: string) => withClient(storeUrl('TEST_POSTGRES_URL'), (client) => client.query(sql));
