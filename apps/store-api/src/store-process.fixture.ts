import { eventually, freePort } from '@fulfilment/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import type { StoreApiUnderTest, TestCreator } from './store-api.fixture.js';

const program = join(import.meta.dirname, '..', 'dist', 'main.js');
const readyWithinMs = 20_000;

/** The store-api as it is deployed, in a process of its own, on the stores of a test. */
export async function startStoreProcess(
  { config }: StoreApiUnderTest,
  environment: Readonly<Record<string, string>> = {},
) {
  if (!existsSync(program)) throw new Error('Build first: npx nx build @fulfilment/store-api');
  const port = await freePort();
  const child = spawn(process.execPath, [program], {
    env: {
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(await freePort()),
      LOG_LEVEL: 'fatal',
      DATABASE_URL: config.DATABASE_URL,
      REDIS_URL: config.REDIS_URL,
      RABBITMQ_URL: config.RABBITMQ_URL,
      RABBITMQ_NAMESPACE: config.RABBITMQ_NAMESPACE,
      BASE_URL: config.BASE_URL,
      AUTH_URL: config.AUTH_URL,
      JWKS_URL: config.JWKS_URL ?? '',
      CURSOR_SECRET: config.CURSOR_SECRET,
      PAYMENT_TIMEOUT_MS: String(config.PAYMENT_TIMEOUT_MS),
      RESUME_AFTER_MS: String(config.RESUME_AFTER_MS),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  /** The signal that ended it, or its exit code. */
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => signal ?? code);
  const url = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
    return answer?.ok ?? false;
  };
  return {
    ended,
    untilReady: () => eventually(async () => ((await isReady()) ? true : undefined), readyWithinMs),
    /** Resolves when its port is closed. */
    untilClosed: () => eventually(async () => ((await isReady()) ? undefined : true)),
    /** As whoever runs it asks it to end. */
    terminate: () => child.kill('SIGTERM'),
    place: (who: TestCreator, body: object, idempotencyKey: string) =>
      request(url)
        .post('/store/v1/orders')
        .auth(who.token, { type: 'bearer' })
        .set('idempotency-key', idempotencyKey)
        .send(body),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
