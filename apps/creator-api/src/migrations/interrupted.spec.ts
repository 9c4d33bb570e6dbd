import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CountedCreators1764000000007 } from './0007-counted-creators.js';
import { migrations } from './index.js';

const interrupted = 'interrupted by the test';
const migration = new CountedCreators1764000000007();
const before = migrations.slice(0, migrations.indexOf(CountedCreators1764000000007));

describe('CountedCreators1764000000007', () => {
  let stores: ScratchDatabase;
  beforeAll(async () => {
    stores = await scratchDatabase(before);
  });
  afterAll(() => stores.drop());

  it('completes after an interruption at any statement, and so does its reversal', async () => {
    const schemaBefore = await schemaOf(stores);
    expect(await interruptUntilDone(stores, (runner) => migration.up(runner))).toBeGreaterThan(20);
    const upToDate = await scratchDatabase([...before, CountedCreators1764000000007]);
    try {
      expect(await schemaOf(stores)).toEqual(await schemaOf(upToDate));
    } finally {
      await upToDate.drop();
    }
    expect(await interruptUntilDone(stores, (runner) => migration.down(runner))).toBeGreaterThan(20);
    expect(await schemaOf(stores)).toEqual(schemaBefore);
  }, 120_000);
});

/** Interrupts each run one statement later than the previous run. Returns the number of interruptions. */
async function interruptUntilDone(
  { dataSource }: ScratchDatabase,
  work: (runner: QueryRunner) => ReturnType<MigrationInterface['up']>,
): Promise<number> {
  for (let statements = 0; ; statements += 1) {
    const runner = dataSource.createQueryRunner();
    try {
      await work(failAfter(runner, statements));
      return statements;
    } catch (error) {
      if (!(error instanceof Error) || error.message !== interrupted) throw error;
    } finally {
      await runner.release();
    }
  }
}

/** Fails once after the given number of statements, including START TRANSACTION and COMMIT. */
function failAfter(runner: QueryRunner, statements: number): QueryRunner {
  let sent = 0;
  return new Proxy(runner, {
    get: (target, name, receiver): unknown => {
      if (name !== 'query') return Reflect.get(target, name, receiver);
      return async (text: string, parameters?: unknown[]): Promise<unknown> => {
        sent += 1;
        if (sent === statements + 1) throw new Error(interrupted);
        return target.query(text, parameters);
      };
    },
  });
}

async function schemaOf({ dataSource }: ScratchDatabase): Promise<unknown> {
  return dataSource.query(`
    SELECT 'relation' AS kind, c.relname AS name, coalesce(pg_get_indexdef(i.indexrelid), c.relkind::text) AS definition
      FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'policy', tablename || '.' || policyname, qual FROM pg_policies WHERE schemaname = 'public'
    UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'function', proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1, 2, 3`);
}
