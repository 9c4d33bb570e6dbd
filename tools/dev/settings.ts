import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from './failure.ts';
import { lastOffset } from './ports.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Settings of `npm start` and related commands from the environment, which no other file in tools/dev reads.
 */
export interface Settings {
  readonly basePort: number;
  /** Directory for everything that the suite creates: data, logs, certificates, `stack.json`. */
  readonly stateDir: string;
  /** URLs of external dependencies. */
  readonly given: { readonly postgres?: string; readonly redis?: string; readonly rabbitmq?: string };
  /** Variables of `npm start` that the services may use. */
  readonly environment: Readonly<Record<string, string>>;
}

export const settingsHelp = `Settings (environment):
  SUITE_BASE_PORT    port of the gateway (default: 8443); the other ports follow it
  SUITE_DEV_DIR      directory for data, logs and stack.json (default: .dev); every command uses it to find its suite
  POSTGRES_URL       use this PostgreSQL; its role must be able to create roles and databases
  REDIS_URL          use this Redis
  RABBITMQ_URL       use this RabbitMQ
  Settings of services, such as WEBHOOK_RETRY_SCHEDULE_MS or LOG_LEVEL, are passed to the services.`;

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_BASE_PORT', 8443),
    stateDir: stateDirSetting(environment),
  });
}

/** Settings of a separate suite for `npm test`, in addition to a running suite of the developer. */
export function readTestSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_TEST_BASE_PORT', 18443),
    stateDir: join(stateDirSetting(environment), 'test'),
  });
}

/** Private stores for `npm run bench`. */
export function readBenchSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_BENCH_BASE_PORT', 28443),
    stateDir: join(stateDirSetting(environment), 'bench'),
  });
}

function suiteSettings(environment: Environment, place: { basePort: number; stateDir: string }): Settings {
  const given = (name: string): string | undefined => environment[name] || undefined;
  return {
    ...place,
    given: { postgres: given('POSTGRES_URL'), redis: given('REDIS_URL'), rabbitmq: given('RABBITMQ_URL') },
    environment: Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}

function stateDirSetting(environment: Environment): string {
  const given = environment.SUITE_DEV_DIR || '.dev';
  return isAbsolute(given) ? given : join(root, given);
}

/** The command line that reaches the suite of this state directory. */
export function commandFor(stateDir: string, command: string): string {
  const below = relative(root, stateDir);
  const dir = below === '' || below.startsWith('..') ? stateDir : below;
  if (dir === '.dev') return command;
  return `SUITE_DEV_DIR=${/^[\w./-]+$/.test(dir) ? dir : `'${dir.replaceAll("'", "'\\''")}'`} ${command}`;
}

function portSetting(environment: Environment, name: string, byDefault: number): number {
  const given = environment[name] || String(byDefault);
  const port = Number(given);
  if (!/^\d+$/.test(given) || port < 1024 || port + lastOffset > 65535) {
    throw new Failure(`${name} must be a port from 1024 to ${65535 - lastOffset}, but is "${given}".`);
  }
  return port;
}

/** A short tag of the state directory, for names outside of it. */
export function suiteTag(settings: Settings): string {
  return createHash('sha256').update(settings.stateDir).digest('hex').slice(0, 10);
}
