import { type FakePooler, startFakePooler } from '@fulfilment/database/testing';
import { startStoreApi, type StoreApiUnderTest } from './store-api.fixture.js';
import { startStoreProcess } from './store-process.fixture.js';

describe('a service behind a connection pooler', () => {
  let store: StoreApiUnderTest;
  let pooler: FakePooler;
  beforeAll(async () => {
    store = await startStoreApi();
    pooler = await startFakePooler(store.config.DATABASE_URL);
  });
  afterAll(async () => {
    await pooler.stop();
    await store.stop();
  });

  it('exits with status 78 (EX_CONFIG) when the pooler silently drops its statement_timeout', async () => {
    const service = await startStoreProcess(store, { DATABASE_URL: pooler.url });
    expect(await service.ended).toBe(78);
  });
});
