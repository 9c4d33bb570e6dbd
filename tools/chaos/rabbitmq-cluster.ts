import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBrokerDefinitions } from '../dev/dependencies/store-users.ts';
import { rabbitmqProgram } from '../dev/dependencies/rabbitmq.ts';
import { rabbitmqResponds } from '../dev/dependencies/readiness.ts';
import { Failure } from '../dev/failure.ts';
import { responds } from '../dev/ports.ts';
import { findProgram } from '../dev/run-program.ts';
import type { ProcessPart, ProcessPlan } from '../dev/supervisor/process-part.ts';
import type { Parts } from './parts.ts';
import type { ChaosContext } from './context.ts';

/** Starts three RabbitMQ nodes as one cluster, so that every quorum queue has three members. */
export async function startRabbitmqCluster(context: ChaosContext, parts: Parts): Promise<ProcessPart[]> {
  const epmd = findProgram('epmd');
  const program = rabbitmqProgram();
  if (program === undefined || epmd === undefined)
    throw new Failure('rabbitmq-server is not installed on this machine: apt-get install rabbitmq-server');
  const home = join(context.settings.stateDir, 'rabbitmq');
  mkdirSync(home, { recursive: true });
  const definitions = writeBrokerDefinitions({ ...context, note: () => undefined });
  const shared = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home, // one Erlang cookie for the cluster
    LC_ALL: 'C.UTF-8',
    ERL_EPMD_PORT: String(context.ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  await parts.start({
    name: 'epmd',
    kind: 'dependency',
    program: epmd,
    args: ['-port', String(context.ports.epmd), '-address', '127.0.0.1'],
    env: shared,
    ready: () => responds(context.ports.epmd),
  });
  const plans = context.ports.brokers.map((port, index) =>
    nodePlan({ program, port, index, home, definitions, shared }, context),
  );
  const first = await parts.start(...plans.slice(0, 1)); // the others join it
  return [...first, ...(await parts.start(...plans.slice(1)))];
}

function nodePlan(
  node: {
    readonly program: string;
    readonly port: number;
    readonly index: number;
    readonly home: string;
    readonly definitions: string;
    readonly shared: Readonly<Record<string, string>>;
  },
  context: ChaosContext,
): ProcessPlan {
  const { port, index, home } = node;
  const url = new URL(context.dependencyUrls.rabbitmq);
  url.port = String(port);
  const data = join(home, `node-${index + 1}`);
  mkdirSync(data, { recursive: true });
  const configuration = join(data, 'rabbitmq.conf');
  const plugins = join(data, 'enabled_plugins');
  const names = context.ports.brokers.map((_, other) => nodeName(context, other));
  writeFileSync(plugins, '[].\n');
  writeFileSync(
    configuration,
    `listeners.tcp.1 = 127.0.0.1:${port}
default_vhost = /
load_definitions = ${node.definitions}
distribution.listener.interface = 127.0.0.1
cluster_formation.peer_discovery_backend = classic_config
${names.map((name, other) => `cluster_formation.classic_config.nodes.${other + 1} = ${name}`).join('\n')}
cluster_formation.randomized_startup_delay_range.min = 0
cluster_formation.randomized_startup_delay_range.max = 0
cluster_partition_handling = pause_minority
net_ticktime = 10
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 200MB
log.console = true
log.console.level = warning
log.file = false
`,
  );
  return {
    name: `rabbitmq-${index + 1}`,
    kind: 'dependency',
    program: node.program,
    args: [],
    cwd: data,
    env: {
      ...node.shared,
      RUNNING_UNDER_SYSTEMD: 'true',
      RABBITMQ_NODENAME: nodeName(context, index),
      RABBITMQ_DIST_PORT: String(context.ports.brokerDistribution[index]),
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: configuration,
      RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
      RABBITMQ_MNESIA_BASE: join(data, 'data'),
      RABBITMQ_LOG_BASE: join(data, 'log'),
      ERL_CRASH_DUMP: join(data, 'erl_crash.dump'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none',
    },
    stopSignal: 'SIGKILL', // a stop is a failure of the node
    readyTimeoutMs: 120_000,
    ready: () => rabbitmqResponds(url.href),
  };
}

function nodeName({ settings }: ChaosContext, index: number): string {
  return `chaos-${settings.basePort}-${index + 1}@localhost`;
}
