import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptCommand, aptPrefix, installDebianPackages } from '../dev/dependencies/debian-packages.ts';
import { eventually } from '../dev/eventually.ts';
import { Failure } from '../dev/failure.ts';
import {
  findProgram,
  lastLines,
  mustRun,
  type Outcome,
  type RunOptions,
  runProgram,
} from '../dev/run-program.ts';

const packages = ['docker.io', 'iptables', 'debootstrap', 'docker-compose'];
const startTimeoutMs = 60_000;
const stopTimeoutMs = 60_000;

type ClientRun = Omit<RunOptions, 'env'> & { readonly env?: Record<string, string> };

/** A container engine, with the client and settings that reach it. */
export class Engine {
  readonly description: string;
  private readonly program: string;
  private readonly environment: Readonly<Record<string, string | undefined>>;

  constructor(
    description: string,
    program: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.description = description;
    this.program = program;
    this.environment = environment;
  }

  /** Runs the client. Does not reject for a non-zero exit status. */
  docker(args: readonly string[], run: ClientRun = {}): Promise<Outcome> {
    return runProgram(this.program, args, { ...run, env: { ...this.environment, ...run.env } });
  }

  /** Runs the client, which must succeed. */
  mustDocker(args: readonly string[], run: ClientRun = {}): Promise<string> {
    return mustRun(this.program, args, { ...run, env: { ...this.environment, ...run.env } });
  }

  /** The command line of the client, for another process. */
  get client(): {
    readonly program: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
  } {
    return { program: this.program, environment: this.environment };
  }

  async hasCompose(): Promise<boolean> {
    return (await this.docker(['compose', 'version'])).code === 0;
  }
}

/** Returns the engine that responds at DOCKER_HOST or the default socket, if any. */
export async function findEngine(): Promise<Engine | undefined> {
  const engine = new Engine('the engine of this machine', 'docker', { ...process.env });
  const { code, output } = await engine.docker(['info', '--format', '{{.ServerVersion}}'], {
    timeoutMs: 10_000,
  });
  if (code !== 0) return undefined;
  const place = process.env.DOCKER_HOST ?? 'the default socket';
  return new Engine(`Docker ${output.trim()} at ${place}`, 'docker', { ...process.env });
}

/** A separate Docker engine from Debian's packages, which nothing else on the machine uses. */
export class PrivateEngine {
  readonly engine: Engine;
  private readonly directory: string;
  private readonly network: NetworkState;

  private constructor(directory: string, engine: Engine, network: NetworkState) {
    this.directory = directory;
    this.engine = engine;
    this.network = network;
  }

  /**
   * Installs the packages if they are missing, and starts the engine on a socket in the directory.
   * @throws Failure on a system without apt-get, or without root
   */
  static async start(directory: string, say: (line: string) => void): Promise<PrivateEngine> {
    await installPackages(say);
    if (process.getuid?.() !== 0) throw new Failure('A private engine must be started as root.');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const at = (name: string): string => join(directory, name);
    const socket = `unix://${at('docker.sock')}`;
    const network = await networkState();
    const log = openSync(at('dockerd.log'), 'a');
    const args = ['--host', socket, '--data-root', at('data'), '--exec-root', at('run')];
    // In a separate process group, so that a signal to this program does not end the engine before its
    // containers.
    spawn('dockerd', [...args, '--pidfile', at('docker.pid'), '--storage-driver', 'overlay2'], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` },
    }).unref();
    const environment = {
      ...process.env,
      DOCKER_HOST: socket,
      DOCKER_CONFIG: at('config'),
      DOCKER_BUILDKIT: '1',
    };
    const engine = new Engine(`a private Docker engine in ${directory}`, '/usr/bin/docker', environment);
    const started = new PrivateEngine(directory, engine, network);
    await eventually(
      async () => {
        if ((await engine.docker(['version'])).code === 0) return true;
        throw new Failure(lastLines(readFileSync(at('dockerd.log'), 'utf8'), 20));
      },
      startTimeoutMs,
      'dockerd has started',
    );
    if (!(await engine.hasCompose())) writeComposePlugin(at('config'));
    return started;
  }

  /** Stops the engine by its process id, and deletes its data and what it changed in the network. */
  async stop(keepData: boolean): Promise<void> {
    const pid = Number(readFileSync(join(this.directory, 'docker.pid'), 'utf8'));
    process.kill(pid, 'SIGTERM');
    await eventually(() => !isRunning(pid), stopTimeoutMs, `dockerd (${pid}) has stopped`);
    for (const mount of mountsBelow(join(this.directory, 'run'))) await runProgram('umount', [mount]);
    await restoreNetwork(this.network);
    if (!keepData) rmSync(this.directory, { recursive: true, force: true });
  }
}

async function installPackages(say: (line: string) => void): Promise<void> {
  const isComplete = ['dockerd', 'iptables', 'debootstrap', 'docker-compose'].every((name) =>
    findProgram(name),
  );
  if (isComplete && existsSync('/usr/bin/docker')) return;
  const prefix = await aptPrefix();
  if (prefix === undefined)
    throw new Failure(`A private engine needs Debian's packages. Install with:\n  ${aptCommand(packages)}`);
  say(`Installing ${packages.join(', ')} with apt-get, without starting them.`);
  await installDebianPackages(packages, prefix);
}

/** Debian's docker-compose is a program of its own; this makes it `docker compose`. */
function writeComposePlugin(config: string): void {
  const folder = join(config, 'cli-plugins');
  mkdirSync(folder, { recursive: true });
  const metadata =
    '{"SchemaVersion":"0.1.0","Vendor":"Debian","Version":"1.29.2","ShortDescription":"Compose"}';
  const script = `#!/bin/sh
if [ "$1" = docker-cli-plugin-metadata ]; then
  echo '${metadata}'
  exit
fi
shift
exec docker-compose "$@"
`;
  writeFileSync(join(folder, 'docker-compose'), script, { mode: 0o755 });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Mount points below a directory, deepest first. */
function mountsBelow(directory: string): string[] {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  return mounts
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${directory}/`))
    .sort()
    .reverse();
}

/** Changes that dockerd makes to the network of the machine. */
interface NetworkState {
  readonly forwards: boolean;
  readonly forwardPolicy: string;
  /** Whether another engine runs, whose rules must stay. */
  readonly hasDockerRules: boolean;
}

const forwarding = '/proc/sys/net/ipv4/ip_forward';

async function networkState(): Promise<NetworkState> {
  const { output } = await runProgram('iptables', ['-S']);
  return {
    forwards: readFileSync(forwarding, 'utf8').trim() === '1',
    forwardPolicy: /^-P FORWARD (\w+)/m.exec(output)?.[1] ?? 'ACCEPT',
    hasDockerRules: /docker/i.test(output),
  };
}

async function restoreNetwork({ forwards, forwardPolicy, hasDockerRules }: NetworkState): Promise<void> {
  if (hasDockerRules) return;
  await runProgram('ip', ['link', 'delete', 'docker0']);
  await runProgram('sh', ['-c', 'iptables-save | grep -vi docker | iptables-restore']);
  await runProgram('iptables', ['-P', 'FORWARD', forwardPolicy]);
  if (!forwards) writeFileSync(forwarding, '0');
}
