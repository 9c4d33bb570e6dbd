import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isListening } from '../ports.ts';
import { findProgram } from '../run-program.ts';
import { quoteForShell } from '../settings.ts';
import type { ProcessPlan } from '../supervisor/process-part.ts';
import { type Dependency, ownUrl, type DependencyContext } from './dependency.ts';
import { rabbitmqResponds } from './readiness.ts';
import { writeBrokerDefinitions } from './store-users.ts';

/** Debian's script on the PATH requires its system user; the script in this folder runs as any user. */
const debianFolder = '/usr/lib/rabbitmq/bin';

export function rabbitmqProgram(): string | undefined {
  return findProgram('epmd') === undefined ? undefined : findProgram('rabbitmq-server', [debianFolder]);
}

export function prepareRabbitmq(context: DependencyContext): Dependency {
  const program = rabbitmqProgram() ?? 'rabbitmq-server';
  const { ports } = context;
  const home = join(context.settings.stateDir, 'rabbitmq');
  mkdirSync(home, { recursive: true });
  const writeFile = (name: string, content: string, mode = 0o600): void =>
    writeFileSync(join(home, name), content, { mode });
  writeFile('rabbitmq.conf', configurationText(context));
  writeFile('enabled_plugins', '[].\n');
  const url = ownUrl('rabbitmq', context);
  const env = nodeEnvironment({
    name: `suite-${ports.rabbitmq}@localhost`,
    folder: home,
    home,
    distributionPort: ports.rabbitmqDistribution,
    epmdPort: ports.epmd,
  });
  writeFile('rabbitmqctl', rabbitmqctlScript(join(dirname(program), 'rabbitmqctl'), env), 0o700);
  return {
    name: 'rabbitmq',
    url,
    processes: [
      epmdPlan(findProgram('epmd') ?? 'epmd', ports.epmd, env),
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

/** Plans epmd. Without it, Erlang would start one that keeps running after the suite. */
export function epmdPlan(program: string, port: number, env: Readonly<Record<string, string>>): ProcessPlan {
  return {
    name: 'epmd',
    kind: 'dependency',
    hidden: true,
    program,
    args: ['-port', String(port), '-address', '127.0.0.1'],
    env,
    ready: () => isListening(port),
  };
}

/**
 * Environment of a RabbitMQ node with its settings, data and logs in one folder. Nodes with the same `home`
 * can form a cluster.
 */
export function nodeEnvironment(node: {
  readonly name: string;
  readonly folder: string;
  /** Contains the Erlang cookie, by which nodes authenticate each other. */
  readonly home: string;
  readonly distributionPort: number;
  readonly epmdPort: number;
}) {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: node.home,
    LC_ALL: 'C.UTF-8',
    ERL_EPMD_PORT: String(node.epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RUNNING_UNDER_SYSTEMD: 'true', // makes the start script exec the server
    RABBITMQ_NODENAME: node.name,
    RABBITMQ_DIST_PORT: String(node.distributionPort), // the default port may belong to another node
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: join(node.folder, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(node.folder, 'enabled_plugins'),
    RABBITMQ_MNESIA_BASE: join(node.folder, 'data'), // also the base of feature flags, plugins and pid file
    RABBITMQ_LOG_BASE: join(node.folder, 'log'),
    ERL_CRASH_DUMP: join(node.folder, 'erl_crash.dump'), // by default in the working directory
    // Two schedulers without busy waiting, so that an idle broker uses no CPU.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none',
  };
}

/** A script that runs `rabbitmqctl` against one node: `.dev/rabbitmq/rabbitmqctl list_queues`. */
export function rabbitmqctlScript(
  program: string,
  {
    HOME,
    ERL_EPMD_PORT,
    RABBITMQ_NODENAME,
  }: Readonly<Record<'HOME' | 'ERL_EPMD_PORT' | 'RABBITMQ_NODENAME', string>>,
): string {
  const settings = { HOME, ERL_EPMD_PORT, RABBITMQ_NODENAME, RABBITMQ_CONF_ENV_FILE: '/dev/null' };
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${quoteForShell(value)}`);
  return `#!/bin/sh\nexec env ${assignments.join(' ')} ${quoteForShell(program)} "$@"\n`;
}

function configurationText(context: DependencyContext): string {
  const { ports } = context;
  return `listeners.tcp.1 = 127.0.0.1:${ports.rabbitmq}
default_vhost = /
load_definitions = ${writeBrokerDefinitions(context)}
${commonConfiguration}`;
}

export const commonConfiguration = `distribution.listener.interface = 127.0.0.1
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 200MB
log.console = true
log.console.level = warning
log.file = false
`;
