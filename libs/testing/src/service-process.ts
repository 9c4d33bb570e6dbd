import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** Settings of an API that a test chooses. */
const settingNames = [
  'DATABASE_URL',
  'REDIS_URL',
  'RABBITMQ_URL',
  'RABBITMQ_NAMESPACE',
  'BASE_URL',
  'AUTH_URL',
  'JWKS_URL',
  'CURSOR_SECRET',
] as const;

/**
 * Starts an API in its own process, on the stores of a test.
 * @param program path of the compiled main.js
 * @param environment further variables of the process, which override the others
 */
export async function serviceProcess(
  program: string,
  settings: Readonly<Partial<Record<(typeof settingNames)[number], string>>>,
  environment: Readonly<Record<string, string>>,
) {
  if (!existsSync(program)) throw new Error(`Build first: there is no ${program}.`);
  const port = await freePort();
  const child = spawn(process.execPath, [program], {
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      PORT: String(port),
      INTERNAL_PORT: String(await freePort()),
      LOG_LEVEL: 'fatal',
      ...Object.fromEntries(settingNames.map((name) => [name, settings[name]])),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  /** Resolves with the signal that ended the process, or its exit code. */
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => signal ?? code);
  const url = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    return response?.ok ?? false;
  };
  return {
    url,
    ended,
    untilReady: () => eventually(isReady),
    /** Resolves when the API is not ready or no longer responds. */
    untilNotReady: () => eventually(async () => !(await isReady())),
    signal: (signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => child.kill(signal),
    /** Ends the process with SIGKILL, so it runs no further code. */
    kill: async () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
