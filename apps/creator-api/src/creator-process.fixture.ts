import { eventually, freePort } from '@fulfilment/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatorApi } from './creator-api.fixture.js';

const program = join(import.meta.dirname, '..', 'dist', 'main.js');
const readyWithinMs = 20_000;

/** The creator-api as it is deployed, in a process of its own, on the stores of a test. */
export async function startCreatorProcess(
  { settings }: CreatorApi,
  environment: Readonly<Record<string, string>> = {},
) {
  if (!existsSync(program)) throw new Error('Build first: npx nx build @fulfilment/creator-api');
  const port = await freePort();
  const child = spawn(process.execPath, [program], {
    env: {
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(await freePort()),
      LOG_LEVEL: 'fatal',
      DATABASE_URL: settings.DATABASE_URL,
      REDIS_URL: settings.REDIS_URL,
      RABBITMQ_URL: settings.RABBITMQ_URL,
      RABBITMQ_NAMESPACE: settings.RABBITMQ_NAMESPACE,
      BASE_URL: settings.BASE_URL,
      AUTH_URL: settings.AUTH_URL,
      JWKS_URL: settings.JWKS_URL ?? '',
      CURSOR_SECRET: settings.CURSOR_SECRET,
      ALLOW_LOOPBACK_TARGETS: 'true',
      TRACK_UPLOAD_QUEUE_PREFIX: settings.TRACK_UPLOAD_QUEUE_PREFIX,
      TRACK_UPLOAD_LEASE_MS: String(settings.TRACK_UPLOAD_LEASE_MS),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  /** The signal that ended it. */
  const ended = once(child, 'exit').then(([, signal]: unknown[]) => signal);
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    return answer?.ok ?? false;
  };
  return {
    untilReady: () => eventually(async () => ((await isReady()) ? true : undefined), readyWithinMs),
    /** As the power cut does: no line of its own runs after. */
    kill: async () => {
      child.kill('SIGKILL');
      return ended;
    },
    signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => child.kill(signal),
    ended,
  };
}
