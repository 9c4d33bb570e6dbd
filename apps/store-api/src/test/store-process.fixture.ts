import { serviceProcess } from '@fulfilment/testing';
import { join } from 'node:path';
import request from 'supertest';
import type { StoreApiUnderTest, Creator } from './store-api.fixture.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

/** Starts the built store-api in a process of its own, with PostgreSQL, Redis and RabbitMQ of a test. */
export async function startStoreProcess(
  { config }: StoreApiUnderTest,
  environment: Readonly<Record<string, string>> = {},
) {
  const { signal, kill, ...service } = await serviceProcess(program, config, {
    PAYMENT_PROVIDER: config.PAYMENT_PROVIDER,
    PAYMENT_TIMEOUT_MS: String(config.PAYMENT_TIMEOUT_MS),
    RESUME_AFTER_MS: String(config.RESUME_AFTER_MS),
    QUOTE_SIGNING_KEY: config.QUOTE_SIGNING_KEY.map((key) => key.toString('base64')).join(','),
    ...environment,
  });
  const post = (path: string, { token }: Creator, body: object, idempotencyKey: string) =>
    request(service.url)
      .post(path)
      .auth(token, { type: 'bearer' })
      .set('idempotency-key', idempotencyKey)
      .send(body);
  return {
    ...service,
    /** Sends SIGTERM. */
    terminate: () => signal('SIGTERM'),
    place: (creator: Creator, body: object, idempotencyKey: string) =>
      post('/store/v1/orders', creator, body, idempotencyKey),
    cancel: (creator: Creator, orderId: string, idempotencyKey: string) =>
      post(`/store/v1/orders/${orderId}/cancel`, creator, {}, idempotencyKey),
    /** Sends SIGKILL. */
    stop: kill,
  };
}
