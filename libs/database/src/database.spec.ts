/** Tests of libs/database; messaging.spec.ts explains why they are here. */
import { createDataSource, Database, migrate, statement, allInOrder } from './index.js';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { eventually, flakyProxy } from '@fulfilment/testing';
import { type ScratchDatabase, scratchDatabase } from './testing/scratch-database.js';

class Numbers1700000000000 implements MigrationInterface {
  name = 'Numbers1700000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE numbers (value bigint NOT NULL)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE numbers');
  }
}

/** A migration that waits for every earlier transaction and statement to end. */
class NumbersByValue1700000000001 implements MigrationInterface {
  name = 'NumbersByValue1700000000001';
  transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX CONCURRENTLY numbers_value ON numbers (value)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX numbers_value');
  }
}

class OtherBaseline1700000000002 extends Numbers1700000000000 {
  override name = 'OtherBaseline1700000000002';
}

const insert = statement('test.insert', 'INSERT INTO numbers VALUES ($1)');
const all = statement('test.all', 'SELECT value FROM numbers ORDER BY value');
const written = statement('test.written', 'SELECT value FROM numbers WHERE value = $1');
const prepared = statement(
  'test.prepared',
  "SELECT count(*) AS count FROM pg_prepared_statements WHERE name = 'test.all'",
);

describe('database', () => {
  let stores: ScratchDatabase;
  beforeAll(async () => {
    stores = await scratchDatabase([Numbers1700000000000]);
  });
  afterAll(() => stores.drop());

  it('reads bigints exactly, and rejects values above the safe integers of JavaScript', async () => {
    await stores.database.run(insert, ['9007199254740991']);
    expect(await stores.database.rows(all)).toEqual([{ value: 9007199254740991 }]);
    const tooLarge = statement('test.too-large', "SELECT '9007199254740992'::bigint AS value");
    await expect(stores.database.rows(tooLarge)).rejects.toThrow(RangeError);
  });

  it('ends a read after its own timeout, as an outage, and keeps the timeout of the pool for others', async () => {
    const sleep = statement('test.sleep', 'SELECT pg_sleep(5)');
    const limit = statement('test.limit', "SELECT current_setting('statement_timeout') AS value");
    const error: unknown = await stores.database
      .rowsWithTimeout(50, sleep)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DependencyUnavailable);
    expect(error).toMatchObject({ cause: { code: '57014' } });
    expect(await stores.database.rowsWithTimeout(50, limit)).toEqual([{ value: '50ms' }]);
    expect(await stores.database.rows(limit)).toEqual([{ value: '8s' }]);
  });

  it('prepares a named statement once per connection', async () => {
    await stores.database.transaction(async (tx) => {
      await tx.rows(all);
      await tx.rows(all);
      expect(await tx.row(prepared)).toEqual({ count: 1 });
    });
  });

  it('applies migrations once when several processes run them concurrently, also one that waits for all others', async () => {
    const sources = await Promise.all(
      Array.from({ length: 4 }, () =>
        createDataSource({
          url: stores.url,
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

  it('rejects a database whose migrations are unknown, and says what to do', async () => {
    const settings = { url: stores.url, poolSize: 2, applicationName: 'test' };
    const source = createDataSource({ ...settings, migrations: [OtherBaseline1700000000002] });
    await source.initialize();
    try {
      await expect(migrate(source)).rejects.toThrow('npm run reset');
    } finally {
      await source.destroy();
    }
  });

  it('uses an index while a table is nearly empty, and keeps that plan as the table grows', async () => {
    const { database } = stores;
    await database.run(statement('test.small', 'CREATE TABLE small (id int PRIMARY KEY)'));
    await database.run(statement('test.one', 'INSERT INTO small VALUES (1)'));
    await database.run({ name: '', text: 'ANALYZE small' });
    const plan = { name: '', text: 'EXPLAIN EXECUTE "test.of-small"(1)' };
    await database.transaction(async (tx) => {
      const ofSmall = statement('test.of-small', 'SELECT id FROM small WHERE id = $1');
      for (let turn = 0; turn < 10; turn += 1) await tx.row(ofSmall, [turn]);
      expect(JSON.stringify(await tx.rows(plan))).toContain('small_pkey');
    });
  });

  it('abandons a connection on which nothing arrives, and continues on another', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({
      url: proxy.url,
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 150,
      migrations: [],
    });
    await source.initialize();
    const database = new Database(source);
    try {
      await database.rows(all);
      proxy.discardData();
      const failure: unknown = await database.rows(all).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DependencyUnavailable);
      await database.rows(all);
      proxy.discardData();
      // Ended by its own timeout, or by the equal timeout of BEGIN.
      const given = await database.transaction((tx) => tx.rows(all)).catch((error: unknown) => error);
      expect(given).toBeInstanceOf(DependencyUnavailable);
      await database.rows(all);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('sends BEGIN with the first statements of a transaction, and concurrent statements in one packet', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 1, applicationName: 'test', migrations: [] });
    await source.initialize();
    const database = new Database(source);
    const answered: number[] = [];
    try {
      await database.rows(all);
      proxy.severAfter(2); // the second packet is COMMIT
      const failed = database.transaction(async (tx) => {
        const answers = await allInOrder([tx.rows(all), tx.row(prepared), tx.rows(all)]);
        answered.push(answers.length);
      });
      await expect(failed).rejects.toThrow();
      expect(answered).toEqual([3]);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('sends the last statements of a transaction with its COMMIT, and rolls back when one of them fails', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 1, applicationName: 'test', migrations: [] });
    await source.initialize();
    const database = new Database(source);
    const fails = statement('test.fails-last', 'SELECT 1 / $1::int');
    try {
      await database.rows(all);
      proxy.severAfter(3); // two packets of this transaction, and one of the next
      await database.transaction(async (tx) => {
        await tx.run(insert, [81]);
        tx.sendWithCommit(tx.run(insert, [82]));
      });
      const values = async () =>
        (await stores.database.rows<{ value: number }>(all)).map(({ value }) => value);
      expect(await values()).toEqual(expect.arrayContaining([81, 82]));
      const undone = stores.database.transaction(async (tx) => {
        await tx.run(insert, [83]);
        tx.sendWithCommit(tx.run(insert, [84]), tx.run(fails, [0]));
      });
      await expect(undone).rejects.toThrow('division by zero');
      expect(await values()).not.toEqual(expect.arrayContaining([83]));
      await expect(database.rows(all)).rejects.toThrow(); // the third packet
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('throws the error of the first statement when several pipelined statements fail', async () => {
    const late = new Promise<never>((_, reject) => setImmediate(() => reject(new Error('first'))));
    await expect(allInOrder([1, late, Promise.reject(new Error('second'))])).rejects.toThrow('first');
    expect(await allInOrder([1, Promise.resolve('two'), undefined])).toEqual([1, 'two', undefined]);
  });

  it('commits all or nothing, and runs afterCommit callbacks only after a commit', async () => {
    const called: string[] = [];
    await expect(
      stores.database.transaction(async (tx) => {
        await tx.run(insert, [1]);
        tx.afterCommit(() => called.push('rolled back'));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await stores.database.transaction((tx) => {
      tx.afterCommit(() => called.push('committed'));
      return tx.run(insert, [2]);
    });
    expect(called).toEqual(['committed']);
    expect(await stores.database.rows(all)).not.toContainEqual({ value: 1 });
  });

  it('reads one snapshot on request, and rejects writes in it', async () => {
    const { database } = stores;
    const moment = await database.transaction(
      async (tx) => {
        const before = await tx.rows(all);
        await database.run(insert, ['77']);
        return [before, await tx.rows(all)];
      },
      { snapshot: true },
    );
    expect(moment[1]).toEqual(moment[0]);
    expect(await database.rows(written, ['77'])).toEqual([{ value: 77 }]);
    await expect(
      database.transaction((tx) => tx.run(insert, ['78']), { snapshot: true }),
    ).rejects.toMatchObject({ code: '25006' }); // read_only_sql_transaction
  });

  it('rejects a transaction in which a failed statement was ignored', async () => {
    const called: string[] = [];
    const done = stores.database.transaction(async (tx) => {
      await tx.run(insert, [8]);
      await tx.run(statement('test.fails', 'SELECT 1 / $1::int'), [0]).catch(() => undefined);
      tx.afterCommit(() => called.push('committed'));
    });
    await expect(done).rejects.toThrow('rolled back');
    expect(called).toEqual([]);
    expect(await stores.database.rows(all)).not.toContainEqual({ value: 8 });
  });

  /** Resolves when the pool has noticed its closed connections. */
  const rowsSoon = () => eventually(() => stores.database.rows(all).catch(() => undefined));

  it('survives a connection that the server closes between two statements', async () => {
    await expect(
      stores.database.transaction(async (tx) => {
        await tx.run(insert, [3]);
        await stores.endConnections();
        await new Promise((resolve) => setImmediate(resolve));
        await tx.run(insert, [4]);
      }),
    ).rejects.toThrow();
    expect(await rowsSoon()).not.toContainEqual({ value: 3 });
  });

  it('rejects when the reply to COMMIT is lost, and no row can confirm it', async () => {
    const line = await flakyProxy(stores.url);
    const source = createDataSource({ url: line.url, poolSize: 2, applicationName: 'cut', migrations: [] });
    await source.initialize();
    try {
      const done = new Database(source).transaction(async (tx) => {
        await tx.run(insert, [52]);
        line.severAfter(1); // the next packet is COMMIT
      });
      await expect(done).rejects.toThrow();
      await eventually(async () => {
        const rows = await stores.database.rows<{ value: number }>(all);
        return rows.some((row) => row.value === 52) || undefined;
      });
    } finally {
      await source.destroy();
      await line.stop();
    }
  });

  it.each([
    [54, 54],
    [55, 0],
  ])('confirms a COMMIT of %i whose reply is lost by the row that it wrote: %i', async (value, looked) => {
    const line = await flakyProxy(stores.url);
    const source = createDataSource({ url: line.url, poolSize: 2, applicationName: 'cut', migrations: [] });
    await source.initialize();
    try {
      const done = new Database(source).transaction(
        async (tx) => {
          await tx.run(insert, [value]);
          line.severAfter(1); // the next packet is COMMIT
          return 'done';
        },
        { commitProbe: { statement: written, values: [looked] } },
      );
      if (value === looked) await expect(done).resolves.toBe('done');
      else await expect(done).rejects.toThrow(); // as if, after a crash, another transaction had the number
    } finally {
      await source.destroy();
      await line.stop();
    }
  });

  it('rolls back a transaction that did not reach its COMMIT, even if it can be confirmed', async () => {
    await expect(
      stores.database.transaction(
        async (tx) => {
          await tx.run(insert, [6]);
          await stores.endConnections();
          await new Promise((resolve) => setImmediate(resolve));
          await tx.run(insert, [7]);
        },
        { commitProbe: { statement: written, values: [6] } },
      ),
    ).rejects.toThrow();
    expect(await rowsSoon()).not.toContainEqual({ value: 6 });
  });
});
