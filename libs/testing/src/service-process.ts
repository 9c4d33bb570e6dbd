import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

const readyWithinMs = 20_000;

/** What every API is told, as a test's own instance has it. */
export interface ApiProcessSettings {
  readonly DATABASE_URL: string;
  readonly REDIS_URL: string;
  readonly RABBITMQ_URL: string;
  readonly RABBITMQ_NAMESPACE: string;
  readonly BASE_URL: string;
  readonly AUTH_URL: string;
  readonly JWKS_URL?: string | undefined;
  readonly CURSOR_SECRET: string;
}

/**
 * An API as it is deployed, in a process of its own, on the stores of a test.
 * @param program the compiled service's main.js
 */
export async function serviceProcess(
  program: string,
  settings: ApiProcessSettings,
  environment: Readonly<Record<string, string>>,
) {
  if (!existsSync(program)) throw new Error(`Build first: there is no ${program}.`);
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
    url,
    ended,
    untilReady: () => eventually(async () => ((await isReady()) ? true : undefined), readyWithinMs),
    /** Resolves when its port is closed. */
    untilClosed: () => eventually(async () => ((await isReady()) ? undefined : true)),
    signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => child.kill(signal),
    /** As the power cut does: no line of its own runs after. */
    kill: async () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
