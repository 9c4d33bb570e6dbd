import { metrics } from '@fulfilment/runtime';
import { connectWhenUp, createDataSource, Database, statement } from '../index.js';
import { patientTimeouts, type ScratchDatabase, scratchDatabase } from '../testing/scratch-database.js';

const selectOne = statement('test.one', 'SELECT 1 AS value');
const pool = 'pool-gauges';

describe('the gauges of connection pools', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase([]);
  });
  afterAll(() => scratch.drop());

  it('count the connections in use, and the statements that wait for one', async () => {
    const { url } = scratch;
    const settings = { ...patientTimeouts, url, poolSize: 1, applicationName: pool, migrations: [] };
    const dataSource = createDataSource(settings);
    try {
      await connectWhenUp(dataSource, settings, (error) => {
        throw error;
      });
      const database = new Database(dataSource);
      const [begun, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      const transaction = database.transaction(async (tx) => {
        await tx.rows(selectOne);
        begun.resolve(undefined);
        await ended.promise;
      });
      await begun.promise;
      const waiting = database.rows(selectOne);
      expect(await readGauges()).toEqual({ used: 1, max: 1, waiting: 1 });
      ended.resolve(undefined);
      await Promise.all([transaction, waiting]);
      expect(await readGauges()).toEqual({ used: 0, max: 1, waiting: 0 });
    } finally {
      await dataSource.destroy();
    }
  });
});

async function readGauges(): Promise<object> {
  return {
    used: await valueOf('database_pool_connections_used'),
    max: await valueOf('database_pool_connections_max'),
    waiting: await valueOf('database_pool_requests_waiting'),
  };
}

async function valueOf(name: string): Promise<number | undefined> {
  const values = (await metrics.getSingleMetric(name)?.get())?.values ?? [];
  return values.find(({ labels }) => labels['pool'] === pool)?.value;
}
