import { jest } from '@jest/globals';
import { createDataSource, Database, migrate, type Sql, statement } from './index.js';
import { valuesOf } from './sql.js';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { Socket } from 'node:net';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { eventually, flakyProxy } from '@fulfilment/testing';
import { insertNumber, countPrepared, Numbers1700000000000, readNumbers } from './numbers.fixture.js';
import { type ScratchDatabase, scratchDatabase } from './testing/scratch-database.js';

/** A migration that waits for the end of every transaction and statement that began earlier. */
class NumbersByValue1700000000001 implements MigrationInterface {
  name = 'NumbersByValue1700000000001';
  transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX CONCURRENTLY numbers_value ON numbers (value)');
  }
  async down(): Promise<void> {}
}

class OtherBaseline1700000000002 extends Numbers1700000000000 {
  override name = 'OtherBaseline1700000000002';
}

describe('the database', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase([Numbers1700000000000]);
  });
  afterAll(() => scratch.drop());

  it('reads bigints exactly, and throws an error for values above the safe integers of JavaScript', async () => {
    await scratch.database.run(insertNumber, ['9007199254740991']);
    expect(await scratch.database.rows(readNumbers)).toEqual([{ value: 9007199254740991 }]);
    const tooLarge = statement('test.too-large', "SELECT '9007199254740992'::bigint AS value");
    await expect(scratch.database.rows(tooLarge)).rejects.toThrow(RangeError);
  });

  it('rejects a read after its own timeout with DependencyUnavailable, and keeps the timeout of the pool for other reads', async () => {
    const sleep = statement('test.sleep', 'SELECT pg_sleep(5)');
    const readTimeout = statement(
      'test.read-timeout',
      "SELECT current_setting('statement_timeout') AS value",
    );
    const error: unknown = await scratch.database
      .rowsWithTimeout(50, sleep)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DependencyUnavailable);
    expect(error).toMatchObject({ cause: { code: '57014' } });
    expect(await scratch.database.rowsWithTimeout(5_000, readTimeout)).toEqual([{ value: '5s' }]);
    expect(await scratch.database.rows(readTimeout)).toEqual([{ value: '1min' }]); // of `patientTimeouts`
  });

  it('keeps an idle connection for minutes, so that rare requests need not open one', async () => {
    const readPid = statement('test.pid', 'SELECT pg_backend_pid() AS pid');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }); // pg and its sockets need them
    try {
      const before = await scratch.database.row(readPid);
      jest.advanceTimersByTime(5 * 60_000);
      expect(await scratch.database.row(readPid)).toEqual(before);
    } finally {
      jest.useRealTimers();
    }
  });

  it('sends keep-alive packets on a connection that is idle for 30 s, since firewalls drop idle ones', async () => {
    const setKeepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const settings = { url: scratch.url, poolSize: 1, applicationName: 'test', migrations: [] };
    const source = await createDataSource(settings).initialize();
    try {
      expect(setKeepAlive).toHaveBeenCalledWith(true, 30_000);
    } finally {
      setKeepAlive.mockRestore();
      await source.destroy();
    }
  });

  it('passes values by name, each as one parameter, and leaves texts and casts as they are', async () => {
    const named = statement('test.named', "SELECT :b::int - :a::int + :b::int AS value, 'at :a' AS text");
    expect(named.text).toBe("SELECT $1::int - $2::int + $1::int AS value, 'at :a' AS text");
    expect(await scratch.database.rows(named, { a: 1, b: 5, c: 0 })).toEqual([{ value: 9, text: 'at :a' }]);
    await expect(scratch.database.rows(named, { a: 1 })).rejects.toThrow('needs a value for :b');
  });

  it('rejects a text with parameters by number and by name, and values by number for parameters by name', () => {
    expect(() => statement('test.mixed', 'SELECT $1::int + :a::int')).toThrow('by number and by name');
    expect(statement('test.quoted', "SELECT :a::int, '$1'").parameters).toEqual(['a']);
    const named = statement('test.named', 'SELECT :a::int');
    expect(() => valuesOf(named, [1])).toThrow('The statement test.named needs its values by name.');
  });

  it('rejects a name of more than 63 bytes, which PostgreSQL would cut off', () => {
    expect(() => statement('é'.repeat(31), 'SELECT 1')).not.toThrow();
    expect(() => statement('é'.repeat(32), 'SELECT 1')).toThrow('is longer than 63 bytes');
  });

  it('prepares a named statement once per connection', async () => {
    await scratch.database.transaction(async (tx) => {
      await tx.rows(readNumbers);
      await tx.rows(readNumbers);
      expect(await tx.row(countPrepared)).toEqual({ count: 1 });
    });
  });

  it('applies a migration once when four pools migrate concurrently, although its index build waits for every earlier statement', async () => {
    const sources = await Promise.all(
      Array.from({ length: 4 }, () =>
        createDataSource({
          url: scratch.url,
          poolSize: 2,
          applicationName: 'test',
          migrations: [Numbers1700000000000, NumbersByValue1700000000001],
        }).initialize(),
      ),
    );
    try {
      const applied = await Promise.all(sources.map((source) => migrate(source)));
      expect(applied.flat()).toEqual(['NumbersByValue1700000000001']);
    } finally {
      await Promise.all(sources.map((source) => source.destroy()));
    }
  });

  it('rejects a database that another baseline created, even if it has a later migration of the list, and says what to do', async () => {
    // The first migration of the list counts as the baseline. The database has only the second one.
    const settings = { url: scratch.url, poolSize: 2, applicationName: 'test' };
    const migrations = [OtherBaseline1700000000002, Numbers1700000000000];
    const source = createDataSource({ ...settings, migrations });
    await source.initialize();
    try {
      await expect(migrate(source)).rejects.toThrow('npm run reset');
    } finally {
      await source.destroy();
    }
  });

  it('uses an index while a table is nearly empty, also in the generic plan of a named statement', async () => {
    const { database } = scratch;
    await database.run(statement('test.small', 'CREATE TABLE small (id int PRIMARY KEY)'));
    await database.run(statement('test.one', 'INSERT INTO small VALUES (1)'));
    await database.run({ name: '', text: 'ANALYZE small' });
    const plan = { name: '', text: 'EXPLAIN EXECUTE "test.of-small"(1)' };
    await database.transaction(async (tx) => {
      const ofSmall = statement('test.of-small', 'SELECT id FROM small WHERE id = $1');
      // After five executions PostgreSQL may choose a generic plan.
      for (let execution = 0; execution < 10; execution += 1) await tx.row(ofSmall, [execution]);
      expect(JSON.stringify(await tx.rows(plan))).toContain('small_pkey');
    });
  });

  it('abandons a connection on which nothing arrives, and continues on another', async () => {
    const proxy = await flakyProxy(scratch.url);
    const source = createDataSource({
      url: proxy.url,
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 1_000,
      migrations: [],
    });
    await source.initialize();
    const database = new Database(source);
    // A busy machine may also exceed the timeout.
    const readEventually = () => eventually(() => database.rows(readNumbers).catch(() => undefined));
    try {
      await readEventually();
      proxy.discardData();
      const failure: unknown = await database.rows(readNumbers).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DependencyUnavailable);
      await readEventually();
      proxy.discardData();
      // BEGIN and the statement are sent together and have the same timeout; either one ends the transaction.
      const failed = database.transaction((tx) => tx.rows(readNumbers));
      const transactionFailure: unknown = await failed.catch((error: unknown) => error);
      expect(transactionFailure).toBeInstanceOf(DependencyUnavailable);
      await readEventually();
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  const insert = (sql: Sql) => sql.run(insertNumber, [60]);
  it.each([
    ['in a transaction', (database: Database) => database.transaction(insert)],
    ['of a single statement', insert],
  ])(
    'treats a write %s as an outage when the server has become read-only, and drops the connection',
    async (_, write) => {
      const settings = { url: scratch.url, poolSize: 1, applicationName: 'read-only', migrations: [] };
      const source = await createDataSource(settings).initialize();
      const database = new Database(source);
      // As after a failover that makes the old primary read-only. Only this connection is affected.
      await source.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
      await expect(write(database)).rejects.toThrow(DependencyUnavailable);
      expect(await write(database)).toBe(1);
      await source.destroy();
    },
  );
});
