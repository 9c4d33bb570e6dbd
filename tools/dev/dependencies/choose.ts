import { Failure } from '../failure.ts';
import { findProgram, namesIn } from '../run-program.ts';
import { aptCommand, aptPrefix, installDebianPackages } from './debian-packages.ts';
import { type Dependency, type DependencyContext, dependencyNames } from './dependency.ts';
import { dependencyFromDocker, dockerResponds, createContainers } from './docker.ts';
import { preparePostgres, postgresPrograms } from './postgres.ts';
import { prepareRabbitmq, rabbitmqProgram } from './rabbitmq.ts';
import { prepareRedis, redisProgram } from './redis.ts';

/** Functions that prepare a store for a start from its program, which must be installed. */
const fromPrograms = { postgres: preparePostgres, redis: prepareRedis, rabbitmq: prepareRabbitmq };

const findNginx = () => findProgram('nginx');
const findCryptography = () =>
  namesIn('/usr/lib/python3/dist-packages').find((name) => name === 'cryptography');
/** Chromium has several program names. The headless shell needs a third less processor time. */
const findBrowser = () =>
  ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
    .map((name) => findProgram(name))
    .find((path) => path);

/** What the suite needs besides node modules: how to find it, and its Debian package. */
export const systemPackages = {
  postgres: { find: postgresPrograms, debian: 'postgresql' },
  redis: { find: redisProgram, debian: 'redis-server' },
  rabbitmq: { find: rabbitmqProgram, debian: 'rabbitmq-server' },
  nginx: { find: findNginx, debian: 'nginx-light' },
  chromium: { find: findBrowser, debian: 'chromium-headless-shell' },
  openssl: { find: () => findProgram('openssl'), debian: 'openssl' },
  python: { find: () => findProgram('python3'), debian: 'python3' },
  // For the example that verifies signatures by public keys.
  cryptography: { find: findCryptography, debian: 'python3-cryptography' },
  php: { find: () => findProgram('php'), debian: 'php-cli' },
  // Checks the alerting rules and the queries of the dashboards.
  promtool: { find: () => findProgram('promtool'), debian: 'prometheus' },
} as const;
type PackageName = keyof typeof systemPackages;

/** Programs that a command needs in addition to the stores. */
export interface RequiredPrograms {
  /** The suite's own gateway, from a program or a container. */
  readonly gateway: boolean;
  /** Chromium. Also Python and PHP for the example receivers, and promtool, or their tests are skipped. */
  readonly tests?: boolean;
  /** nginx and PostgreSQL, which unit tests start from programs, even if Docker runs those of the suite. */
  readonly unitTests?: boolean;
}

export interface Choice {
  readonly dependencies: readonly Dependency[];
  readonly gateway: 'program' | 'docker';
}

/**
 * Chooses the source of each dependency: an external URL, Docker, or programs on this machine. Creates the
 * containers, and installs missing programs with apt-get where that is possible.
 */
export async function chooseDependencies(
  context: DependencyContext,
  required: RequiredPrograms,
): Promise<Choice> {
  const { externalUrls } = context.settings;
  const ownDependencies = dependencyNames.filter((name) => externalUrls[name] === undefined);
  const usesDocker =
    ownDependencies.length > 0 &&
    (await dockerResponds()) &&
    (await createContainers(context, ownDependencies));
  const needsNginx = required.gateway || required.unitTests === true;
  const programs: PackageName[] = usesDocker ? [] : [...ownDependencies];
  if (needsNginx) programs.push('openssl'); // for its certificates
  // A container can proxy services on this machine only on Linux, where it can share the host network.
  const gatewayFromDocker =
    usesDocker && process.platform === 'linux' && findNginx() === undefined && required.unitTests !== true;
  if (needsNginx && !gatewayFromDocker) programs.push('nginx');
  if (required.tests) programs.push('chromium');
  if (required.unitTests && !programs.includes('postgres')) programs.push('postgres');
  await install(programs, required.tests ? ['python', 'cryptography', 'php', 'promtool'] : [], context);
  return {
    gateway: gatewayFromDocker ? 'docker' : 'program',
    dependencies: await Promise.all(
      dependencyNames.map(async (name): Promise<Dependency> => {
        const url = externalUrls[name];
        if (url !== undefined) return { name, url, processes: [] };
        return usesDocker ? dependencyFromDocker(name, context) : await fromPrograms[name](context);
      }),
    ),
  };
}

export function describeSource({ name, processes }: Dependency): string {
  if (processes.length === 0) return `${name}: ${name.toUpperCase()}_URL`;
  const isContainer = processes.some(({ program }) => program === 'docker');
  return `${name}: ${isContainer ? 'Docker' : processes.at(-1)?.program}`;
}

/** Installs all missing packages with one apt-get call; if it fails, only the required ones with another. */
async function install(
  required: readonly PackageName[],
  optional: readonly PackageName[],
  context: DependencyContext,
): Promise<void> {
  const isMissing = (name: PackageName): boolean => systemPackages[name].find() === undefined;
  const [missingRequired, missingOptional] = [required.filter(isMissing), optional.filter(isMissing)];
  const prefix = missingRequired.length + missingOptional.length > 0 ? await aptPrefix() : undefined;
  if (prefix !== undefined) {
    const missing = [...missingRequired, ...missingOptional];
    try {
      await installPackages(missing, prefix, context);
    } catch (error) {
      if (missingOptional.length === 0) throw error;
      context.note(`Some of ${debianNames(missing).join(', ')} could not be installed.`);
      if (missingRequired.length > 0) await installPackages(missingRequired, prefix, context);
    }
  }
  const stillMissing = missingRequired.filter(isMissing);
  if (stillMissing.length > 0) throw new Failure(installInstructions(stillMissing));
}

async function installPackages(
  names: readonly PackageName[],
  prefix: readonly string[],
  context: DependencyContext,
): Promise<void> {
  const packages = debianNames(names);
  context.note(`Installing ${packages.join(', ')} with apt-get, without starting them.`);
  await installDebianPackages(packages, prefix);
}

function debianNames(names: readonly PackageName[]): string[] {
  return names.map((name) => systemPackages[name].debian);
}

function installInstructions(names: readonly PackageName[]): string {
  return `Not found on this machine: ${names.join(', ')}. Install them, on Debian or Ubuntu with:
  ${aptCommand(debianNames(names))}
For stores, Docker or the settings POSTGRES_URL, REDIS_URL and RABBITMQ_URL may replace programs.`;
}
