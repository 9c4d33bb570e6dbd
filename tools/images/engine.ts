import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installMissing } from '../dev/dependencies/debian-packages.ts';
import { eventually } from '../dev/eventually.ts';
import { Failure } from '../dev/failure.ts';
import {
  findProgram,
  lastLines,
  runOrThrow,
  namesIn,
  type ProcessResult,
  type RunOptions,
  runProgram,
} from '../dev/run-program.ts';
import { signalTree } from '../dev/supervisor/process-tree.ts';

/** The Debian packages of a private engine. Docker's own packages install to other paths. */
const packages: Readonly<Record<string, () => boolean>> = {
  'docker.io': () => findProgram('dockerd') !== undefined && existsSync('/usr/bin/docker'),
  iptables: () => findProgram('iptables') !== undefined,
  'docker-compose': () =>
    findProgram('docker-compose') !== undefined ||
    existsSync('/usr/libexec/docker/cli-plugins/docker-compose'),
};
/** Timeout of short commands, which take this long only if the engine hangs. */
const commandTimeoutMs = 10_000;
const startTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;

type ClientRun = Omit<RunOptions, 'env'> & { readonly env?: Record<string, string> };

/** A container engine, with the client and settings that reach it. */
export class Engine {
  readonly description: string;
  /** The client, and the environment in which it reaches the engine. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;

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
  docker(args: readonly string[], run: ClientRun = {}): Promise<ProcessResult> {
    return runProgram(this.program, args, { ...run, env: { ...this.environment, ...run.env } });
  }

  /** Runs the client. @throws Failure for a non-zero exit status */
  dockerOrThrow(args: readonly string[], run: ClientRun = {}): Promise<string> {
    return runOrThrow(this.program, args, { ...run, env: { ...this.environment, ...run.env } });
  }

  async hasCompose(): Promise<boolean> {
    return (await this.docker(['compose', 'version'])).code === 0;
  }
}

/** Returns the engine that responds at DOCKER_HOST or the default socket, if any. */
export async function findEngine(): Promise<Engine | undefined> {
  const { code, output } = await runProgram('docker', ['info', '--format', '{{.ServerVersion}}'], {
    timeoutMs: commandTimeoutMs,
  });
  if (code !== 0) return undefined;
  const place = process.env.DOCKER_HOST ?? 'the default socket';
  return new Engine(`Docker ${output.trim()} at ${place}`, 'docker', { ...process.env });
}

/** A separate Docker engine from Debian's packages, which nothing else on the machine uses. */
export class PrivateEngine {
  readonly engine: Engine;
  private readonly directory: string;
  private daemon: ChildProcess | undefined;
  private network: NetworkState | undefined;
  private stopping: Promise<void> | undefined;

  /** @param directory holds its socket and data */
  constructor(directory: string) {
    this.directory = directory;
    this.engine = new Engine(`a private Docker engine in ${directory}`, '/usr/bin/docker', {
      ...process.env,
      DOCKER_HOST: `unix://${this.pathOf('docker.sock')}`,
      DOCKER_CONFIG: this.pathOf('config'),
      DOCKER_BUILDKIT: '1',
    });
  }

  /**
   * Installs the packages if they are missing, and starts the engine.
   * @throws Failure on a system without apt-get, without root, or where the engine cannot run
   */
  async start(): Promise<void> {
    if (process.getuid?.() !== 0) throw new Failure('A private engine must be started as root.');
    await installMissing(packages, 'A private engine');
    await this.removeLeftovers();
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.network = await readNetworkState();
    if (this.stopping !== undefined) throw new Failure('The engine was stopped.');
    const log = openSync(this.pathOf('dockerd.log'), 'a');
    const args = ['--host', `unix://${this.pathOf('docker.sock')}`, '--storage-driver', 'overlay2'];
    const directories = ['--data-root', this.pathOf('data'), '--exec-root', this.pathOf('run')];
    // In a separate process group, so that a signal to this program does not end the engine before its
    // containers.
    const daemon = spawn('dockerd', [...args, ...directories, '--pidfile', this.pathOf('docker.pid')], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` },
    });
    daemon.unref();
    this.daemon = daemon;
    const ended = once(daemon, 'exit').then(() => {
      throw new Failure(`dockerd has ended.\n${this.endOfLog()}`);
    });
    await Promise.race([ended, this.waitUntilReady()]);
    if (!(await this.engine.hasCompose())) writeComposePlugin(this.pathOf('config'));
  }

  private async waitUntilReady(): Promise<void> {
    await eventually(
      async () => {
        if ((await this.engine.docker(['version'], { timeoutMs: commandTimeoutMs })).code === 0) return true;
        throw new Failure(this.endOfLog());
      },
      startTimeoutMs,
      'dockerd has started',
    );
  }

  private endOfLog(): string {
    return lastLines(readFileSync(this.pathOf('dockerd.log'), 'utf8'), 5);
  }

  /** Stops the engine, undoes its network changes, and deletes its data unless `keepsData`. */
  stop({ keepsData }: { readonly keepsData: boolean }): Promise<void> {
    this.stopping ??= this.end(keepsData);
    return this.stopping;
  }

  private async end(keepsData: boolean): Promise<void> {
    const { daemon } = this;
    if (daemon !== undefined && daemon.exitCode === null && daemon.signalCode === null) {
      await this.killContainers(); // dockerd would wait for each to stop
      daemon.kill('SIGTERM');
      await eventually(
        () => daemon.exitCode !== null || daemon.signalCode !== null,
        stopTimeoutMs,
        'dockerd has stopped',
      ).catch(() => undefined); // dockerd hangs; `removeLeftovers` kills it
    }
    await this.removeLeftovers();
    if (this.network !== undefined) await restoreNetwork(this.network);
    if (!keepsData) rmSync(this.directory, { recursive: true, force: true });
  }

  private async killContainers(): Promise<void> {
    const options = { timeoutMs: commandTimeoutMs };
    const { output } = await this.engine.docker(['ps', '--quiet'], options);
    const ids = output.match(/^[0-9a-f]{12}$/gm) ?? [];
    if (ids.length > 0) await this.engine.docker(['kill', ...ids], options);
  }

  /** Kills the processes and removes the mounts of an engine in this directory that hangs or was left. */
  private async removeLeftovers(): Promise<void> {
    for (const pid of enginePids(`${this.directory}/`)) signalTree(pid, 'SIGKILL');
    for (const mount of mountsBelow(this.directory)) await runProgram('umount', ['--lazy', mount]);
    rmSync(this.pathOf('docker.pid'), { force: true });
  }

  private pathOf(name: string): string {
    return join(this.directory, name);
  }
}

/** Debian's docker-compose is a separate program. This plugin runs it as `docker compose`. */
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

/** Returns the pids of dockerd, containerd and its shims whose command line contains the path. */
function enginePids(path: string): number[] {
  const pids = namesIn('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid);
  return pids.filter((pid) => {
    try {
      const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return /(^|\/)(dockerd|containerd[\w-]*)$/.test(program) && args.some((arg) => arg.includes(path));
    } catch {
      return false; // it has ended
    }
  });
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

/** The network of the machine, which dockerd changes. */
type NetworkState = Awaited<ReturnType<typeof readNetworkState>>;

const forwardingFile = '/proc/sys/net/ipv4/ip_forward';
const linksFolder = '/sys/class/net';
/** Bridges and interfaces of containers. */
const dockerLink = /^(docker0|br-[0-9a-f]{12}|veth[0-9a-f]{7})$/;

async function readNetworkState() {
  const { output } = await runProgram('iptables', ['-S']);
  return {
    forwardsIpv4: readFileSync(forwardingFile, 'utf8').trim() === '1',
    forwardPolicy: /^-P FORWARD (\w+)/m.exec(output)?.[1] ?? 'ACCEPT',
    links: namesIn(linksFolder),
    /** Whether another engine runs, whose rules must stay. Every command line contains the empty path. */
    hasOtherEngine: enginePids('').length > 0,
  };
}

async function restoreNetwork(before: NetworkState): Promise<void> {
  const newLinks = namesIn(linksFolder).filter((name) => !before.links.includes(name));
  for (const link of newLinks.filter((name) => dockerLink.test(name)))
    await runProgram('ip', ['link', 'delete', link]);
  if (before.hasOtherEngine) return;
  // Keeps the rules of other programs. A rule of a container network contains the name of its bridge.
  const keepOtherRules = "iptables-save | grep -Eiv 'docker|[io] br-[0-9a-f]{12}' | iptables-restore";
  await runProgram('sh', ['-c', keepOtherRules]);
  await runProgram('iptables', ['-P', 'FORWARD', before.forwardPolicy]);
  if (!before.forwardsIpv4) writeFileSync(forwardingFile, '0');
}
