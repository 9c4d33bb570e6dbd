import { Failure } from '../failure.ts';
import { findProgram } from '../run-program.ts';
import { findBrowser } from './browser.ts';
import { aptCommand, aptPrefix, installDebianPackages } from './debian-packages.ts';
import { type Dependency, dependencyNames, type DependencyName, type Site } from './dependency.ts';
import { dependencyFromDocker, dockerAnswers, dockerImages } from './docker.ts';
import { postgresFromPrograms, postgresPrograms } from './postgres.ts';
import { rabbitmqFromPrograms, rabbitmqProgram } from './rabbitmq.ts';
import { redisFromPrograms, redisProgram } from './redis.ts';

/** All that the suite runs but does not bring as a node module, and how Debian and Homebrew call it. */
const wares = {
  postgres: { found: () => postgresPrograms() !== undefined, debian: 'postgresql', brew: 'postgresql@17' },
  redis: { found: () => redisProgram() !== undefined, debian: 'redis-server', brew: 'redis' },
  rabbitmq: { found: () => rabbitmqProgram() !== undefined, debian: 'rabbitmq-server', brew: 'rabbitmq' },
  nginx: { found: () => findProgram('nginx') !== undefined, debian: 'nginx-light', brew: 'nginx' },
  // Debian's own; browser tests drive it.
  chromium: { found: () => findBrowser() !== undefined, debian: 'chromium', brew: '--cask chromium' },
  openssl: { found: () => findProgram('openssl') !== undefined, debian: 'openssl', brew: 'openssl' },
  python: { found: () => findProgram('python3') !== undefined, debian: 'python3', brew: 'python' },
  php: { found: () => findProgram('php') !== undefined, debian: 'php-cli', brew: 'php' },
} as const;
type Ware = keyof typeof wares;

/** What is wanted beside the stores. */
export interface Wanted {
  /** The suite's own gateway, from a program or a container. */
  readonly gateway: boolean;
  /** nginx as a program: tests put one in front of a service themselves. */
  readonly nginx: boolean;
  /** Chromium, for tests of the pages. */
  readonly browser: boolean;
  /** Python and PHP, which run the examples for receivers. Without them those tests are skipped. */
  readonly interpreters: boolean;
}

export interface Choice {
  readonly dependencies: readonly Dependency[];
  readonly gateway: 'program' | 'docker';
}

/** Where each dependency comes from: an address that was given, Docker, programs on this machine, packages installed now. */
export async function chooseDependencies(site: Site, wanted: Wanted): Promise<Choice> {
  const { given } = site.settings;
  const ours = dependencyNames.filter((name) => given[name] === undefined);
  const docker = ours.length > 0 && (await dockerAnswers()) && (await dockerImages(site, ours));
  const anyGateway = wanted.gateway || wanted.nginx;
  const programs: Ware[] = [...(docker ? [] : ours), ...(anyGateway ? (['openssl'] as const) : [])];
  // A container can stand in front of services on this machine only where it can share the machine's network.
  const gatewayFromDocker = docker && process.platform === 'linux' && !wares.nginx.found() && !wanted.nginx;
  if (anyGateway && !gatewayFromDocker) programs.push('nginx');
  if (wanted.browser) programs.push('chromium');
  await install(programs, wanted.interpreters ? ['python', 'php'] : [], site);
  return {
    gateway: gatewayFromDocker ? 'docker' : 'program',
    dependencies: await Promise.all(
      dependencyNames.map(async (name): Promise<Dependency> => {
        const url = given[name];
        if (url !== undefined) return { name, url, processes: [] };
        return docker ? dependencyFromDocker(name, site) : await fromPrograms(name, site);
      }),
    ),
  };
}

export function describeSource({ name, processes }: Dependency): string {
  if (processes.length === 0) return `${name}: ${name.toUpperCase()}_URL`;
  return `${name}: ${processes.some(({ program }) => program === 'docker') ? 'Docker' : processes.at(-1)?.program}`;
}

function fromPrograms(name: DependencyName, site: Site): Dependency | Promise<Dependency> {
  switch (name) {
    case 'postgres':
      return postgresFromPrograms(site);
    case 'redis':
      return redisFromPrograms(site);
    case 'rabbitmq':
      return rabbitmqFromPrograms(site);
  }
}

/** All with one call of apt-get; when that fails, what there must be with another. */
async function install(must: readonly Ware[], may: readonly Ware[], site: Site): Promise<void> {
  const isMissing = (name: Ware): boolean => !wares[name].found();
  const [needed, welcome] = [must.filter(isMissing), may.filter(isMissing)];
  const prefix = needed.length + welcome.length > 0 ? await aptPrefix() : undefined;
  if (prefix !== undefined) {
    const wanted = [...needed, ...welcome];
    try {
      await installPackages(wanted, prefix, site);
    } catch (error) {
      if (welcome.length === 0) throw error;
      site.note(`Some of ${debianNames(wanted)} could not be installed.`);
      if (needed.length > 0) await installPackages(needed, prefix, site);
    }
  }
  const lacking = needed.filter(isMissing);
  if (lacking.length > 0) throw new Failure(howToGet(lacking));
}

async function installPackages(names: readonly Ware[], prefix: readonly string[], site: Site): Promise<void> {
  site.note(`Installing ${debianNames(names)} with apt-get, without starting them.`);
  const packages = names.map((name) => wares[name].debian);
  await installDebianPackages(packages, prefix);
}

function debianNames(names: readonly Ware[]): string {
  return names.map((name) => wares[name].debian).join(', ');
}

function howToGet(names: readonly Ware[]): string {
  const command =
    process.platform === 'darwin'
      ? `brew install ${names.map((name) => wares[name].brew).join(' ')}`
      : aptCommand(names.map((name) => wares[name].debian));
  return `Not found on this machine: ${names.join(', ')}. Install with:
  ${command}
or start Docker, or set POSTGRES_URL, REDIS_URL and RABBITMQ_URL.`;
}
