import { eventually, flakyProxy } from '@fulfilment/testing';
import { allInOrder, createDataSource, Database, statement } from './index.js';
import {
  countPrepared,
  insertNumber,
  Numbers1700000000000,
  readNumber,
  readNumbers,
} from './numbers.fixture.js';
import { type ScratchDatabase, scratchDatabase } from './testing/scratch-database.js';

describe('a transaction', () => {
  let stores: ScratchDatabase;
  beforeAll(async () => {
    stores = await scratchDatabase([Numbers1700000000000]);
  });
  afterAll(() => stores.drop());

  it('sends BEGIN with its first statements, and concurrent statements in one packet', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 1, applicationName: 'test', migrations: [] });
    await source.initialize();
    const database = new Database(source);
    const received: number[] = [];
    try {
      await database.rows(readNumbers);
      proxy.severAfter(2); // the second packet is COMMIT
      const failed = database.transaction(async (tx) => {
        const results = await allInOrder([tx.rows(readNumbers), tx.row(countPrepared), tx.rows(readNumbers)]);
        received.push(results.length);
      });
      await expect(failed).rejects.toThrow();
      expect(received).toEqual([3]);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('sends its last statements with its COMMIT, and rolls back when one of them fails', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 1, applicationName: 'test', migrations: [] });
    await source.initialize();
    const database = new Database(source);
    const fails = statement('test.fails-last', 'SELECT 1 / $1::int');
    try {
      await database.rows(readNumbers);
      proxy.severAfter(3); // two packets of this transaction, and one of the next
      await database.transaction(async (tx) => {
        await tx.run(insertNumber, [81]);
        tx.sendWithCommit(tx.run(insertNumber, [82]));
      });
      const values = async () =>
        (await stores.database.rows<{ value: number }>(readNumbers)).map(({ value }) => value);
      expect(await values()).toEqual(expect.arrayContaining([81, 82]));
      const undone = stores.database.transaction(async (tx) => {
        await tx.run(insertNumber, [83]);
        tx.sendWithCommit(tx.run(insertNumber, [84]), tx.run(fails, [0]));
      });
      await expect(undone).rejects.toThrow('division by zero');
      expect(await values()).not.toEqual(expect.arrayContaining([83]));
      await expect(database.rows(readNumbers)).rejects.toThrow(); // the third packet
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
        await tx.run(insertNumber, [1]);
        tx.afterCommit(() => called.push('rolled back'));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await stores.database.transaction((tx) => {
      tx.afterCommit(() => called.push('committed'));
      return tx.run(insertNumber, [2]);
    });
    expect(called).toEqual(['committed']);
    expect(await stores.database.rows(readNumbers)).not.toContainEqual({ value: 1 });
  });

  it('reads one snapshot on request, and rejects writes in it', async () => {
    const { database } = stores;
    const moment = await database.transaction(
      async (tx) => {
        const before = await tx.rows(readNumbers);
        await database.run(insertNumber, ['77']);
        return [before, await tx.rows(readNumbers)];
      },
      { snapshot: true },
    );
    expect(moment[1]).toEqual(moment[0]);
    expect(await database.rows(readNumber, ['77'])).toEqual([{ value: 77 }]);
    await expect(
      database.transaction((tx) => tx.run(insertNumber, ['78']), { snapshot: true }),
    ).rejects.toMatchObject({ code: '25006' }); // read_only_sql_transaction
  });

  it('is rejected if a failed statement was ignored', async () => {
    const called: string[] = [];
    const done = stores.database.transaction(async (tx) => {
      await tx.run(insertNumber, [8]);
      await tx.run(statement('test.fails', 'SELECT 1 / $1::int'), [0]).catch(() => undefined);
      tx.afterCommit(() => called.push('committed'));
    });
    await expect(done).rejects.toThrow('rolled back');
    expect(called).toEqual([]);
    expect(await stores.database.rows(readNumbers)).not.toContainEqual({ value: 8 });
  });

  /** Resolves when the pool has noticed its closed connections. */
  const rowsSoon = () => eventually(() => stores.database.rows(readNumbers).catch(() => undefined));

  it('fails, without ending the process, when the server closes its connection between two statements', async () => {
    await expect(
      stores.database.transaction(async (tx) => {
        await tx.run(insertNumber, [3]);
        await stores.endConnections();
        await new Promise((resolve) => setImmediate(resolve));
        await tx.run(insertNumber, [4]);
      }),
    ).rejects.toThrow();
    expect(await rowsSoon()).not.toContainEqual({ value: 3 });
  });

  it('rejects when the response to COMMIT is lost, and no row can confirm it', async () => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 2, applicationName: 'cut', migrations: [] });
    await source.initialize();
    try {
      const done = new Database(source).transaction(async (tx) => {
        await tx.run(insertNumber, [52]);
        proxy.severAfter(1); // the next packet is COMMIT
      });
      await expect(done).rejects.toThrow();
      await eventually(async () => {
        const rows = await stores.database.rows<{ value: number }>(readNumbers);
        return rows.some((row) => row.value === 52) || undefined;
      });
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it.each([
    [54, 54],
    [55, 0],
  ])('confirms a COMMIT of %i whose response is lost by the row that it wrote: %i', async (value, probed) => {
    const proxy = await flakyProxy(stores.url);
    const source = createDataSource({ url: proxy.url, poolSize: 2, applicationName: 'cut', migrations: [] });
    await source.initialize();
    try {
      const done = new Database(source).transaction(
        async (tx) => {
          await tx.run(insertNumber, [value]);
          proxy.severAfter(1); // the next packet is COMMIT
          return 'done';
        },
        { commitProbe: { statement: readNumber, values: [probed] } },
      );
      if (value === probed) await expect(done).resolves.toBe('done');
      else await expect(done).rejects.toThrow(); // as if, after a crash, another transaction had the number
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  });

  it('is rolled back if it did not reach its COMMIT, even if it can be confirmed', async () => {
    await expect(
      stores.database.transaction(
        async (tx) => {
          await tx.run(insertNumber, [6]);
          await stores.endConnections();
          await new Promise((resolve) => setImmediate(resolve));
          await tx.run(insertNumber, [7]);
        },
        { commitProbe: { statement: readNumber, values: [6] } },
      ),
    ).rejects.toThrow();
    expect(await rowsSoon()).not.toContainEqual({ value: 6 });
  });
});
