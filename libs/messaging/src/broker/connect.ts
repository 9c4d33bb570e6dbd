import { brokerNodes } from '@fulfilment/runtime';
import { type ChannelModel, connect as connectToNode } from 'amqplib';

const timeoutMs = 5_000;
const heartbeatSeconds = '10';

/**
 * Connects to a random node of the cluster, so that connections spread over the nodes. If it cannot be used,
 * tries the next one. The caller needs no listener for `error`: calls in progress reject.
 * @param urls value of `RABBITMQ_URL`
 * @param name shown in the management interface of RabbitMQ
 * @throws the error of the only node, or an AggregateError of all nodes if there are several
 */
export async function connect(urls: string, name?: string): Promise<ChannelModel> {
  const nodes = brokerNodes(urls);
  const first = Math.floor(Math.random() * nodes.length);
  const errors: unknown[] = [];
  for (const node of [...nodes.slice(first), ...nodes.slice(0, first)]) {
    try {
      const connection = await connectToNode(withHeartbeat(node), {
        timeout: timeoutMs,
        ...(name !== undefined && { clientProperties: { connection_name: name } }),
      });
      return connection.on('error', () => undefined);
    } catch (error) {
      errors.push(error);
    }
  }
  throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'No node of RabbitMQ can be used.');
}

function withHeartbeat(node: string): string {
  const url = new URL(node);
  url.searchParams.set('heartbeat', heartbeatSeconds);
  return url.href;
}
