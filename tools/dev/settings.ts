import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from './failure.ts';
import { lastOffset, maxPort } from './ports.ts';

const defaultStateDir = '.dev';
/** Lower ports need privileges. */
const firstUserPort = 1024;
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The built documentation site, which the gateway serves. */
export const siteDir = join(root, 'docs', 'site', 'dist');

/** Arguments with which Node.js runs a file of `tools`, such as `dev/start.ts`. */
export function toolArguments(file: string, ...args: readonly string[]): string[] {
  return ['--disable-warning=ExperimentalWarning', join(root, 'tools', file), ...args];
}

/** Settings of `npm start` and related commands from the environment. */
export interface Settings {
  readonly basePort: number;
  /** Directory for everything that the suite creates: data, logs, certificates, `stack.json`. */
  readonly stateDir: string;
  readonly externalUrls: { readonly postgres?: string; readonly redis?: string; readonly rabbitmq?: string };
  /** Whether commits survive a crash of the machine. They always survive a crash of PostgreSQL. */
  readonly fsync: boolean;
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
    fsync: true,
  });
}

/** Default base ports, which differ so that all of these suites can run at the same time. */
const separateSuites = {
  test: { variable: 'SUITE_TEST_BASE_PORT', basePort: 18443 },
  'restore-drill': { variable: 'SUITE_DRILL_BASE_PORT', basePort: 25443 },
  chaos: { variable: 'SUITE_CHAOS_BASE_PORT', basePort: 26443 },
  compatibility: { variable: 'SUITE_COMPATIBILITY_BASE_PORT', basePort: 27443 },
  bench: { variable: 'SUITE_BENCH_BASE_PORT', basePort: 28443 },
} as const;

/** Settings of the separate suite of a command, such as `npm test`. */
export function readSeparateSettings(
  command: keyof typeof separateSuites,
  environment: Environment = process.env,
): Settings {
  const { variable, basePort } = separateSuites[command];
  return suiteSettings(environment, {
    basePort: portSetting(environment, variable, basePort),
    stateDir: join(stateDirSetting(environment), command),
    fsync: command !== 'test', // tests create hundreds of databases
  });
}

function suiteSettings(
  environment: Environment,
  own: Pick<Settings, 'basePort' | 'stateDir' | 'fsync'>,
): Settings {
  const readOptional = (name: string): string | undefined => environment[name] || undefined;
  return {
    ...own,
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

/** Quotes a text for a command of sh, if it needs quotes. */
export function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function portSetting(environment: Environment, name: string, defaultPort: number): number {
  const value = environment[name] || String(defaultPort);
  const port = Number(value);
  if (!/^\d+$/.test(value) || port < firstUserPort || port + lastOffset > maxPort) {
    throw new Failure(
      `${name} must be a port from ${firstUserPort} to ${maxPort - lastOffset}, but is "${value}".`,
    );
  }
  return port;
}

/** Short hash of the state directory, for names in shared stores and containers. */
export function stateDirHash(settings: Settings): string {
  return createHash('sha256').update(settings.stateDir).digest('hex').slice(0, 10);
}

/** Namespace of exchanges and queues, since an external broker may hold several suites. */
export function rabbitmqNamespace(settings: Settings): string {
  return (
    settings.environment.RABBITMQ_NAMESPACE ||
    (settings.externalUrls.rabbitmq === undefined ? 'suite' : stateDirHash(settings))
  );
}
