import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { Test } from '@nestjs/testing';
import { READINESS_CHECKS, type ReadinessChecks } from '@fulfilment/http-service';
import { DatabasePools } from '@fulfilment/service-host';
import { DELIVERY_DATABASE, webhookWorkerSettings } from './config.js';
import { WebhookWorkerModule } from './webhook-worker.module.js';
import { webhookStores, workerEnvironment } from './test/webhook-worker.fixture.js';

const readNames = statement(
  'test.application-names',
  `SELECT DISTINCT application_name AS name FROM pg_stat_activity
   WHERE datname = current_database() AND application_name LIKE 'webhook-worker%' ORDER BY 1`,
);

describe('the webhook worker', () => {
  it('has connection pools that cannot exhaust each other, each named in pg_stat_activity', async () => {
    const stores = await webhookStores();
    const settings = webhookWorkerSettings.parse({
      ...workerEnvironment(stores),
      HOST: '127.0.0.1',
      PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'fatal',
      DATABASE_POOL_SIZE: '1',
      DATABASE_BACKGROUND_POOL_SIZE: '1',
      DATABASE_DELIVERY_POOL_SIZE: '1',
    });
    const service = await Test.createTestingModule({
      imports: [WebhookWorkerModule.forRoot(settings)],
    }).compile();
    const delivery: Database = service.get(DELIVERY_DATABASE, { strict: false });
    const readiness: ReadinessChecks = service.get(READINESS_CHECKS, { strict: false });
    try {
      expect(await readiness.postgres?.()).toBe(false); // the service is starting
      await service.get(DatabasePools, { strict: false }).connect();
      const [requests, deliveries] = [
        await holdConnection(service.get(Database, { strict: false })),
        await holdConnection(delivery),
      ];
      const background = await holdConnection(service.get(BACKGROUND_DATABASE, { strict: false }));
      // PostgreSQL can be reached, however busy the pools are.
      expect(await readiness.postgres?.()).not.toBe(false);
      expect(await stores.database.rows(readNames)).toEqual([
        { name: 'webhook-worker' },
        { name: 'webhook-worker background' },
        { name: 'webhook-worker delivery' },
        { name: 'webhook-worker probe' },
        { name: 'webhook-worker shards' },
      ]);
      await deliveries.rollback();
      await delivery.ping();
      for (const open of [requests, background]) await open.rollback();
    } finally {
      await service.close();
      await stores.stop();
    }
  });
});

/** Opens a transaction that holds a connection of a pool. */
async function holdConnection(database: Database) {
  const open = await database.begin();
  await open.tx.rows(readNames);
  return open;
}
