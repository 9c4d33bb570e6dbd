import { topologyOf } from '@fulfilment/contracts';
import { brokerNodes } from '@fulfilment/runtime';
import { close } from './close.js';
import { connect } from './connect.js';
import { declareQueues, onOwnChannel, rabbitmqQueuesOf, queuesOf } from './topology.js';

/** State of RabbitMQ as a service finds it. */
export interface BrokerFindings {
  readonly version: string;
  /** The exchange and the queues that do not exist. */
  readonly missing: readonly string[];
  /** Queues whose declaration failed: they have other arguments, or the user has no permission. */
  readonly different: readonly string[];
  /** Nodes that cannot be used although others can, as `host:port: reason`. */
  readonly unusableNodes: readonly string[];
  /** Names of the clusters to which the nodes belong: one, unless a node is in a wrong cluster. */
  readonly clusters: readonly string[];
}

/**
 * Checks that the exchange exists, and that the queues of a service are as it declares them. For the check it
 * declares the existing queues once more, which creates their missing bindings and exchanges, but no queue.
 */
export async function examineBroker(
  service: string,
  { url, namespace }: { readonly url: string; readonly namespace: string },
): Promise<BrokerFindings> {
  const topology = topologyOf(namespace);
  const connection = await connect(url);
  try {
    const missing: string[] = [];
    const different: string[] = [];
    const exchange = await onOwnChannel(connection, (channel) =>
      channel.checkExchange(topology.factsExchange),
    );
    if (exchange === undefined) missing.push(topology.factsExchange);
    for (const name of queuesOf(service)) {
      const absent: string[] = [];
      for (const queue of [...rabbitmqQueuesOf(topology, name), topology.deadLetterQueue(name)])
        if ((await onOwnChannel(connection, (channel) => channel.checkQueue(queue))) === undefined)
          absent.push(queue);
      missing.push(...absent);
      if (absent.length === 0 && exchange !== undefined)
        await declareQueues(connection, topology, [name]).catch(() => different.push(name));
    }
    const { version }: { version?: unknown } = connection.connection.serverProperties;
    return { version: String(version), missing, different, ...(await examineNodes(url)) };
  } finally {
    await close(connection);
  }
}

async function examineNodes(clusterUrl: string): Promise<Pick<BrokerFindings, 'unusableNodes' | 'clusters'>> {
  const unusableNodes: string[] = [];
  const clusters = new Set<string>();
  for (const url of brokerNodes(clusterUrl)) {
    try {
      const connection = await connect(url);
      clusters.add(String(Reflect.get(connection.connection.serverProperties, 'cluster_name')));
      await close(connection);
    } catch (error) {
      const reason: unknown = error instanceof AggregateError ? error.errors[0] : error;
      unusableNodes.push(
        `${new URL(url).host}: ${reason instanceof Error ? reason.message : String(reason)}`,
      );
    }
  }
  return { unusableNodes, clusters: [...clusters] };
}
