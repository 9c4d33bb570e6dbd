import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeBrokerDefinitions } from '../../dev/dependencies/store-users.ts';
import {
  commonConfiguration,
  epmdPlan,
  nodeEnvironment,
  rabbitmqProgram,
} from '../../dev/dependencies/rabbitmq.ts';
import { rabbitmqResponds } from '../../dev/dependencies/readiness.ts';
import { Failure } from '../../dev/failure.ts';
import { findProgram } from '../../dev/run-program.ts';
import type { ProcessPart, ProcessPlan } from '../../dev/supervisor/process-part.ts';
import type { Supervisor } from '../../dev/supervisor/supervisor.ts';
import type { ChaosContext } from './context.ts';

/** Starts three RabbitMQ nodes as one cluster, so that every quorum queue has three members. */
export async function startRabbitmqCluster(
  context: ChaosContext,
  supervisor: Supervisor,
): Promise<ProcessPart[]> {
  const epmd = findProgram('epmd');
  const program = rabbitmqProgram();
  if (program === undefined || epmd === undefined)
    throw new Failure('rabbitmq-server is not installed on this machine: apt-get install rabbitmq-server');
  const home = join(context.settings.stateDir, 'rabbitmq');
  mkdirSync(home, { recursive: true });
  const definitions = writeBrokerDefinitions({ ...context, note: () => undefined });
  const plans = context.ports.brokers.map((port, index) =>
    prepareNode({ program, port, index, home, definitions }, context),
  );
  await supervisor.start(epmdPlan(epmd, context.ports.epmd, plans[0]?.env ?? {}));
  const first = await supervisor.startLayer(plans.slice(0, 1)); // the others join it
  return [...first, ...(await supervisor.startLayer(plans.slice(1)))];
}

/** Writes the configuration of a node, and plans its process. */
function prepareNode(
  node: {
    readonly program: string;
    readonly port: number;
    readonly index: number;
    readonly home: string;
    readonly definitions: string;
  },
  context: ChaosContext,
): ProcessPlan {
  const { port, index, home } = node;
  const url = new URL(context.dependencyUrls.rabbitmq);
  url.port = String(port);
  const data = join(home, `node-${index + 1}`);
  mkdirSync(data, { recursive: true });
  const names = context.ports.brokers.map((_, other) => nodeName(context, other));
  writeFileSync(join(data, 'enabled_plugins'), '[].\n');
  writeFileSync(
    join(data, 'rabbitmq.conf'),
    `listeners.tcp.1 = 127.0.0.1:${port}
default_vhost = /
load_definitions = ${node.definitions}
cluster_formation.peer_discovery_backend = classic_config
${names.map((name, other) => `cluster_formation.classic_config.nodes.${other + 1} = ${name}`).join('\n')}
cluster_formation.randomized_startup_delay_range.min = 0
cluster_formation.randomized_startup_delay_range.max = 0
cluster_partition_handling = pause_minority
net_ticktime = 10
${commonConfiguration}`,
  );
  return {
    name: `rabbitmq-${index + 1}`,
    kind: 'dependency',
    program: node.program,
    args: [],
    cwd: data,
    env: nodeEnvironment({
      name: nodeName(context, index),
      folder: data,
      home,
      distributionPort: context.ports.brokerDistribution[index] ?? 0,
      epmdPort: context.ports.epmd,
    }),
    stopSignal: 'SIGKILL', // a stop is a failure of the node
    readyTimeoutMs: 120_000,
    ready: () => rabbitmqResponds(url.href),
  };
}

function nodeName({ settings }: ChaosContext, index: number): string {
  return `chaos-${settings.basePort}-${index + 1}@localhost`;
}
