import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import { responds } from '../ports.ts';
import { findProgram } from '../run-program.ts';
import { quoteForShell } from '../settings.ts';
import { type Dependency, ownUrl, type DependencyContext } from './dependency.ts';
import { rabbitmqResponds } from './readiness.ts';
import { writeBrokerDefinitions } from './store-users.ts';

/** Debian's script on the PATH requires its system user; the script in this folder runs as any user. */
const debianFolder = '/usr/lib/rabbitmq/bin';

export function rabbitmqProgram(): string | undefined {
  return findProgram('epmd') === undefined ? undefined : findProgram('rabbitmq-server', [debianFolder]);
}

export function rabbitmqFromPrograms(context: DependencyContext): Dependency {
  const program = rabbitmqProgram();
  const epmd = findProgram('epmd');
  if (program === undefined || epmd === undefined)
    throw new Failure('rabbitmq-server is not installed on this machine.');
  const { ports } = context;
  const home = join(context.settings.stateDir, 'rabbitmq');
  mkdirSync(home, { recursive: true });
  /** @returns the path */
  const writeFile = (name: string, content: string, mode = 0o600): string => {
    const file = join(home, name);
    writeFileSync(file, content, { mode });
    return file;
  };
  const configuration = writeFile('rabbitmq.conf', configurationText(context));
  const plugins = writeFile('enabled_plugins', '[].\n');
  const url = ownUrl('rabbitmq', context);
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home, // for a separate Erlang cookie
    LC_ALL: 'C.UTF-8',
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RUNNING_UNDER_SYSTEMD: 'true', // makes the start script exec the server
    RABBITMQ_NODENAME: `suite-${ports.rabbitmq}@localhost`,
    // The default port may belong to another node.
    RABBITMQ_DIST_PORT: String(ports.rabbitmqDistribution),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: configuration,
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_MNESIA_BASE: join(home, 'data'), // also the base of feature flags, plugins and pid file
    RABBITMQ_LOG_BASE: join(home, 'log'),
    ERL_CRASH_DUMP: join(home, 'erl_crash.dump'), // else in the working directory
    // Two schedulers without busy waiting, so that an idle broker uses no CPU.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none',
  };
  writeFile('rabbitmqctl', rabbitmqctlScript(join(dirname(program), 'rabbitmqctl'), env), 0o700);
  return {
    name: 'rabbitmq',
    url,
    processes: [
      {
        // Without this process, Erlang would start an epmd that keeps running after the suite.
        name: 'epmd',
        kind: 'dependency',
        hidden: true,
        program: epmd,
        args: ['-port', String(ports.epmd), '-address', '127.0.0.1'],
        env,
        ready: () => responds(ports.epmd),
      },
      {
        name: 'rabbitmq',
        kind: 'dependency',
        program,
        args: [],
        cwd: home,
        env,
        stopTimeoutMs: 20_000,
        readyTimeoutMs: 90_000,
        ready: () => rabbitmqResponds(url),
      },
    ],
  };
}

/** A script that runs `rabbitmqctl` against this node: `.dev/rabbitmq/rabbitmqctl list_queues`. */
export function rabbitmqctlScript(
  program: string,
  {
    HOME,
    ERL_EPMD_PORT,
    RABBITMQ_NODENAME,
  }: Readonly<Record<'HOME' | 'ERL_EPMD_PORT' | 'RABBITMQ_NODENAME', string>>,
): string {
  const settings = { HOME, ERL_EPMD_PORT, RABBITMQ_NODENAME, RABBITMQ_CONF_ENV_FILE: '/dev/null' };
  const words = Object.entries(settings).map(([name, value]) => `${name}=${quoteForShell(value)}`);
  return `#!/bin/sh\nexec env ${words.join(' ')} ${quoteForShell(program)} "$@"\n`;
}

function configurationText(context: DependencyContext): string {
  const { ports } = context;
  return `listeners.tcp.1 = 127.0.0.1:${ports.rabbitmq}
default_vhost = /
load_definitions = ${writeBrokerDefinitions(context)}
distribution.listener.interface = 127.0.0.1
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 200MB
log.console = true
log.console.level = warning
log.file = false
`;
}
