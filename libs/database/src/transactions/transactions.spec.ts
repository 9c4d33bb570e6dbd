import { eventually, flakyProxy, type FlakyProxy } from '@fulfilment/testing';
import { pipelined, createDataSource, Database, statement } from '../index.js';
import {
  countPrepared,
  insertNumber,
  Numbers1700000000000,
  readNumber,
  readNumbers,
} from '../numbers.fixture.js';
import { patientTimeouts, type ScratchDatabase, scratchDatabase } from '../testing/scratch-database.js';

describe('a transaction', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase([Numbers1700000000000]);
  });
  afterAll(() => scratch.drop());

  /** Runs work on a pool behind a proxy that can sever its connections. */
  const behindProxy = async (
    { poolSize }: { readonly poolSize: number },
    work: (database: Database, proxy: FlakyProxy) => Promise<void>,
  ): Promise<void> => {
    const proxy = await flakyProxy(scratch.url);
    const settings = { url: proxy.url, poolSize, applicationName: 'test', migrations: [] };
    const source = createDataSource({ ...patientTimeouts, ...settings });
    await source.initialize();
    try {
      await work(new Database(source), proxy);
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  };

  it('sends BEGIN with its first statements, and concurrent statements in one packet', async () => {
    const resultCounts: number[] = [];
    await behindProxy({ poolSize: 1 }, async (database, proxy) => {
      await database.rows(readNumbers); // connects, so that only later packets count
      proxy.severAfter(2); // the second packet is COMMIT
      const failed = database.transaction(async (tx) => {
        const results = await pipelined([tx.rows(readNumbers), tx.row(countPrepared), tx.rows(readNumbers)]);
        resultCounts.push(results.length);
      });
      await expect(failed).rejects.toThrow();
      expect(resultCounts).toEqual([3]);
    });
  });

  it('sends its last statements with its COMMIT, and rolls back when one of them fails', async () => {
    const fails = statement('test.fails-last', 'SELECT 1 / $1::int');
    await behindProxy({ poolSize: 1 }, async (database, proxy) => {
      await database.rows(readNumbers); // connects, so that only later packets count
      proxy.severAfter(3); // two packets of this transaction, and one of the next
      await database.transaction(async (tx) => {
        await tx.run(insertNumber, [81]);
        tx.awaitAtCommit(tx.run(insertNumber, [82]));
      });
      const values = async () =>
        (await scratch.database.rows<{ value: number }>(readNumbers)).map(({ value }) => value);
      expect(await values()).toEqual(expect.arrayContaining([81, 82]));
      const undone = scratch.database.transaction(async (tx) => {
        await tx.run(insertNumber, [83]);
        tx.awaitAtCommit(tx.run(insertNumber, [84]), tx.run(fails, [0]));
      });
      await expect(undone).rejects.toThrow('division by zero');
      expect(await values()).not.toEqual(expect.arrayContaining([83]));
      await expect(database.rows(readNumbers)).rejects.toThrow(); // the third packet
    });
  });

  it('is sent as one packet if it awaits all its statements at COMMIT', async () => {
    await behindProxy({ poolSize: 1 }, async (database, proxy) => {
      await database.rows(readNumbers); // connects, so that only later packets count
      proxy.severAfter(2); // one packet of this transaction, and one of the next statement
      await database.transaction((tx) => Promise.resolve(tx.awaitAtCommit(tx.run(insertNumber, [85]))));
      await expect(database.rows(readNumbers)).rejects.toThrow();
    });
  });

  it('rejects a statement after its end', async () => {
    const open = await scratch.database.begin();
    await open.rollback();
    await expect(open.tx.rows(readNumbers)).rejects.toThrow('The transaction has ended.');
  });

  it('is rolled back when its work throws, and runs afterCommit callbacks only after a commit', async () => {
    const called: string[] = [];
    await expect(
      scratch.database.transaction(async (tx) => {
        await tx.run(insertNumber, [1]);
        tx.afterCommit(() => called.push('rolled back'));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await scratch.database.transaction((tx) => {
      tx.afterCommit(() => called.push('committed'));
      return tx.run(insertNumber, [2]);
    });
    expect(called).toEqual(['committed']);
    expect(await scratch.database.rows(readNumbers)).not.toContainEqual({ value: 1 });
  });

  it('reads one snapshot if it begins with that option, and then rejects writes', async () => {
    const { database } = scratch;
    const [before, later] = await database.transaction(
      async (tx) => {
        const first = await tx.rows(readNumbers);
        await database.run(insertNumber, ['77']);
        return [first, await tx.rows(readNumbers)];
      },
      { snapshot: true },
    );
    expect(later).toEqual(before);
    expect(await database.rows(readNumber, ['77'])).toEqual([{ value: 77 }]);
    await expect(
      database.transaction((tx) => tx.run(insertNumber, ['78']), { snapshot: true }),
    ).rejects.toMatchObject({ code: '25006' }); // read_only_sql_transaction
  });

  it('is rejected if a failed statement was ignored', async () => {
    const called: string[] = [];
    const done = scratch.database.transaction(async (tx) => {
      await tx.run(insertNumber, [8]);
      await tx.run(statement('test.fails', 'SELECT 1 / $1::int'), [0]).catch(() => undefined);
      tx.afterCommit(() => called.push('committed'));
    });
    await expect(done).rejects.toThrow('rolled back');
    expect(called).toEqual([]);
    expect(await scratch.database.rows(readNumbers)).not.toContainEqual({ value: 8 });
  });

  /** Reads the rows. Retries until the pool has replaced its closed connections. */
  const rowsAfterReconnect = () =>
    eventually(() => scratch.database.rows(readNumbers).catch(() => undefined));

  it('fails, without ending the process, when the server closes its connection between two statements', async () => {
    await expect(
      scratch.database.transaction(async (tx) => {
        await tx.run(insertNumber, [3]);
        await scratch.endConnections();
        await new Promise((resolve) => setImmediate(resolve)); // the client notices the loss
        await tx.run(insertNumber, [4]);
      }),
    ).rejects.toThrow();
    expect(await rowsAfterReconnect()).not.toContainEqual({ value: 3 });
  });

  it('rejects when the response to COMMIT is lost and there is no probe, although it was committed', async () => {
    await behindProxy({ poolSize: 2 }, async (database, proxy) => {
      const done = database.transaction(async (tx) => {
        await tx.run(insertNumber, [52]);
        proxy.severAfter(1); // the next packet is COMMIT
      });
      await expect(done).rejects.toThrow();
      await eventually(async () => {
        const rows = await scratch.database.rows<{ value: number }>(readNumbers);
        return rows.some((row) => row.value === 52);
      });
    });
  });

  it.each([
    [54, 54],
    [55, 0],
  ])(
    'confirms a COMMIT whose response is lost only if the probe finds its row (wrote %i, probed %i)',
    async (value, probed) => {
      await behindProxy({ poolSize: 2 }, async (database, proxy) => {
        const done = database.transaction(
          async (tx) => {
            await tx.run(insertNumber, [value]);
            proxy.severAfter(1); // the next packet is COMMIT
            return 'done';
          },
          { commitProbe: { statement: readNumber, values: [probed] } },
        );
        if (value === probed) await expect(done).resolves.toBe('done');
        else await expect(done).rejects.toThrow();
      });
    },
  );

  it('does not run the probe when a statement that is sent with COMMIT fails', async () => {
    await scratch.database.run(insertNumber, [56]); // the probe would find it
    const fails = statement('test.fails-last', 'SELECT 1 / $1::int');
    const failed = scratch.database.transaction(
      async (tx) => {
        await tx.run(insertNumber, [57]);
        tx.awaitAtCommit(tx.run(fails, [0]));
      },
      { commitProbe: { statement: readNumber, values: [56] } },
    );
    await expect(failed).rejects.toThrow('division by zero');
  });

  it('is rolled back if its connection is lost before COMMIT, also with a probe', async () => {
    await expect(
      scratch.database.transaction(
        async (tx) => {
          await tx.run(insertNumber, [6]);
          await scratch.endConnections();
          await new Promise((resolve) => setImmediate(resolve)); // the client notices the loss
          await tx.run(insertNumber, [7]);
        },
        { commitProbe: { statement: readNumber, values: [6] } },
      ),
    ).rejects.toThrow();
    expect(await rowsAfterReconnect()).not.toContainEqual({ value: 6 });
  });
});

describe('pipelined statements', () => {
  it('have their results in the given order, or the error of the first one that fails in this order', async () => {
    const late = new Promise<never>((_, reject) => setImmediate(() => reject(new Error('first'))));
    await expect(pipelined([1, late, Promise.reject(new Error('second'))])).rejects.toThrow('first');
    expect(await pipelined([1, Promise.resolve('two'), undefined])).toEqual([1, 'two', undefined]);
  });
});
