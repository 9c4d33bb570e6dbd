import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from './failure.ts';
import { lastOffset } from './ports.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** What `npm start` and its companions are told by the environment. Nothing else in tools/dev reads it. */
export interface Settings {
  readonly basePort: number;
  /** Where the suite keeps all it makes: data, logs, certificates, `stack.json`. */
  readonly stateDir: string;
  /** Addresses of dependencies that somebody else runs. */
  readonly given: { readonly postgres?: string; readonly redis?: string; readonly rabbitmq?: string };
  /** All that the services may take from the environment of `npm start`. */
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
  return settingsOf(environment, {
    basePort: portSetting(environment, 'SUITE_BASE_PORT', 8443),
    stateDir: stateDirSetting(environment),
  });
}

/** A suite of its own for `npm test`, beside the one a developer may have running. */
export function readTestSettings(environment: Environment = process.env): Settings {
  return settingsOf(environment, {
    basePort: portSetting(environment, 'SUITE_TEST_BASE_PORT', 18443),
    stateDir: join(stateDirSetting(environment), 'test'),
  });
}

/** Private stores for `npm run bench`. */
export function readBenchSettings(environment: Environment = process.env): Settings {
  return settingsOf(environment, {
    basePort: portSetting(environment, 'SUITE_BENCH_BASE_PORT', 28443),
    stateDir: join(stateDirSetting(environment), 'bench'),
  });
}

function settingsOf(environment: Environment, place: { basePort: number; stateDir: string }): Settings {
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

/** A command as it must be typed to reach the suite of this state directory. */
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

/** Short and the same for the same state directory: names what lies outside of it. */
export function suiteTag(settings: Settings): string {
  return createHash('sha256').update(settings.stateDir).digest('hex').slice(0, 10);
}
