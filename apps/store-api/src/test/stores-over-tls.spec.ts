import { createDataSource } from '@fulfilment/database';
import { patientTimeouts } from '@fulfilment/database/testing';
import { certificatesIn, storeUrl, type TlsProxy, tlsProxy } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStoreApi, type StoreApiUnderTest } from './store-api.fixture.js';
import { startStoreProcess } from './store-process.fixture.js';

describe('a service whose PostgreSQL, Redis and RabbitMQ speak TLS', () => {
  let store: StoreApiUnderTest;
  let directory: string;
  let caFile: string;
  let proxies: TlsProxy[];
  let urls: Record<string, string>;

  const withAddress = (url: string, protocol: string, port: number, parameters = {}): string => {
    const changed = new URL(url.replace(/^\w+:/, protocol));
    changed.host = `localhost:${port}`;
    for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, String(value));
    return changed.href;
  };

  beforeAll(async () => {
    store = await startStoreApi();
    directory = mkdtempSync(join(tmpdir(), 'tls-'));
    const certificates = await certificatesIn(directory);
    caFile = certificates.caFile;
    const { DATABASE_URL, RABBITMQ_URL } = store.config;
    const [postgres, redis, rabbitmq] = await Promise.all([
      tlsProxy(DATABASE_URL, certificates, { isPostgres: true }),
      tlsProxy(storeUrl('TEST_REDIS_URL'), certificates),
      tlsProxy(RABBITMQ_URL, certificates),
    ]);
    proxies = [postgres, redis, rabbitmq];
    urls = {
      DATABASE_URL: withAddress(DATABASE_URL, 'postgres:', postgres.port, { sslmode: 'verify-full' }),
      REDIS_URL: withAddress(storeUrl('TEST_REDIS_URL'), 'rediss:', redis.port),
      RABBITMQ_URL: withAddress(RABBITMQ_URL, 'amqps:', rabbitmq.port),
    };
  });
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    rmSync(directory, { recursive: true });
    await store.stop();
  });

  it('is ready when NODE_EXTRA_CA_CERTS names their certificate authority', async () => {
    const service = await startStoreProcess(store, { ...urls, NODE_EXTRA_CA_CERTS: caFile });
    try {
      await service.untilReady();
    } finally {
      await service.stop();
    }
  });

  it('has a PostgreSQL client that rejects a certificate whose authority it does not trust', async () => {
    const source = createDataSource({
      url: urls.DATABASE_URL ?? '',
      poolSize: 1,
      applicationName: 'test',
      migrations: [],
      ...patientTimeouts,
    });
    await expect(source.initialize()).rejects.toThrow(/certificate/);
  });

  it('has a Redis client that rejects a certificate whose authority it does not trust', async () => {
    const redis = new Redis(urls.REDIS_URL ?? '', { lazyConnect: true, retryStrategy: () => null });
    const failed = new Promise<Error>((resolve) => redis.once('error', resolve));
    await expect(redis.connect()).rejects.toThrow();
    expect((await failed).message).toMatch(/certificate/);
  });
});
