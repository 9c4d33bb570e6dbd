import { type Message, routingKeyOf, topologyOf } from '@fulfilment/contracts';
import { close } from './broker/close.js';
import { connect } from './broker/connect.js';
import { ConfirmedPublisher } from './broker/confirmed-publisher.js';

/**
 * Publishes one message over a connection of its own. Resolves when RabbitMQ has confirmed it.
 * @throws Error when the broker cannot be used, does not confirm, or routes the message to no queue
 */
export async function publishMessage(
  { url, namespace }: { readonly url: string; readonly namespace: string },
  message: Message,
): Promise<void> {
  const connection = await connect(url).catch((error: unknown) => {
    throw new Error(
      'RabbitMQ does not accept the connection. Check that it is running, and the host, user and password in RABBITMQ_URL.',
      { cause: error },
    );
  });
  try {
    const publisher = new ConfirmedPublisher(await connection.createConfirmChannel());
    const outgoing = {
      exchange: topologyOf(namespace).factsExchange,
      routingKey: routingKeyOf(message),
      content: Buffer.from(JSON.stringify(message)),
      messageId: message.id,
    };
    const isRouted = await publisher.publish([outgoing]).catch((error: unknown) => {
      throw new Error(
        'RabbitMQ did not confirm the message. The message may still arrive: check whether it was applied before you retry.',
        { cause: error },
      );
    });
    if (!isRouted)
      throw new Error(
        'No queue receives this message. Run the migrations of its consumers, which declare the queues.',
      );
  } finally {
    await close(connection).catch(() => undefined);
  }
}
