import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from './failure.ts';
import { collectorOffset, lastOffset } from './ports.ts';

const defaultStateDir = '.dev';
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The built documentation site, which the gateway serves. */
export const siteDir = join(root, 'docs', 'site', 'dist');

/**
 * Settings of `npm start` and related commands from the environment, which no other file in tools/dev reads.
 */
export interface Settings {
  readonly basePort: number;
  /** Directory for everything that the suite creates: data, logs, certificates, `stack.json`. */
  readonly stateDir: string;
  readonly externalUrls: { readonly postgres?: string; readonly redis?: string; readonly rabbitmq?: string };
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
  const basePort = portSetting(environment, 'SUITE_TEST_BASE_PORT', 18443);
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${basePort + collectorOffset}`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
  return suiteSettings(
    { ...environment, ...tracing },
    { basePort, stateDir: join(stateDirSetting(environment), 'test') },
  );
}

/** Settings of the private stores that `npm run bench` starts. */
export function readBenchSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_BENCH_BASE_PORT', 28443),
    stateDir: join(stateDirSetting(environment), 'bench'),
  });
}

/** Settings of the suite in which `npm run compatibility` replaces the last release. */
export function readCompatibilitySettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_COMPATIBILITY_BASE_PORT', 27443),
    stateDir: join(stateDirSetting(environment), 'compatibility'),
  });
}

/** Settings of the suite that `npm run chaos` starts. */
export function readChaosSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_CHAOS_BASE_PORT', 26443),
    stateDir: join(stateDirSetting(environment), 'chaos'),
  });
}

/** Settings of the suite that `npm run restore-drill` starts. */
export function readDrillSettings(environment: Environment = process.env): Settings {
  return suiteSettings(environment, {
    basePort: portSetting(environment, 'SUITE_DRILL_BASE_PORT', 25443),
    stateDir: join(stateDirSetting(environment), 'restore-drill'),
  });
}

function suiteSettings(environment: Environment, location: { basePort: number; stateDir: string }): Settings {
  const readOptional = (name: string): string | undefined => environment[name] || undefined;
  return {
    ...location,
    externalUrls: {
      postgres: readOptional('POSTGRES_URL'),
      redis: readOptional('REDIS_URL'),
      rabbitmq: readOptional('RABBITMQ_URL'),
    },
    environment: Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}

function stateDirSetting(environment: Environment): string {
  const dir = environment.SUITE_DEV_DIR || defaultStateDir;
  return isAbsolute(dir) ? dir : join(root, dir);
}

/** The command line that reaches the suite of this state directory. */
export function commandFor(stateDir: string, command: string): string {
  const relativeDir = relative(root, stateDir);
  const isInProject = relativeDir !== '' && !relativeDir.startsWith('..');
  const dir = isInProject ? relativeDir : stateDir;
  return dir === defaultStateDir ? command : `SUITE_DEV_DIR=${quoteForShell(dir)} ${command}`;
}

/** The failure of a command that needs a suite, when none is running or starting. */
export function notRunning(stateDir: string): Failure {
  const isDefault = stateDir === join(root, defaultStateDir);
  const place = isDefault ? '' : ` in ${stateDir}`;
  return new Failure(`No suite is running${place}. Start one with: ${commandFor(stateDir, 'npm start')}`);
}

function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function portSetting(environment: Environment, name: string, byDefault: number): number {
  const value = environment[name] || String(byDefault);
  const port = Number(value);
  if (!/^\d+$/.test(value) || port < 1024 || port + lastOffset > 65535) {
    throw new Failure(`${name} must be a port from 1024 to ${65535 - lastOffset}, but is "${value}".`);
  }
  return port;
}

/** Short hash of the state directory, for names in shared stores and containers. */
export function stateDirHash(settings: Settings): string {
  return createHash('sha256').update(settings.stateDir).digest('hex').slice(0, 10);
}
