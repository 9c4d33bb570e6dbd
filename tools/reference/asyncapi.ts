import { messageEnvelope, messages, type SuiteMessageType, topologyOf } from '@fulfilment/contracts';
import { z } from 'zod';

const description = `The messages of the suite over RabbitMQ, for warehouses, pressing plants and other services of the platform.

All messages go to one topic exchange; the routing key is the type, with \`order.test.\` instead of \`order.\` for test orders. Declare and bind a queue of your own to receive them; the user of a warehouse may bind it to \`order.*\` only. A message may arrive more than once, late or out of order: handle each \`id\` once, and of two messages about the same resource keep the newer state. Operations are named from the point of view of the suite: it sends the messages that you may consume, and receives \`fulfilment.*\` from the warehouse and the operator, and \`catalogue.*\` from the operator only.`;

/** Messages that the suite accepts; it publishes all others. */
const accepted = /^(fulfilment|catalogue)\./;
/** Messages that are sent directly to the queue of a consumer. */
const internal = /^replay\./;

/** The AsyncAPI 3 document of the messages, from the point of view of the suite. */
export function asyncApiDocument(): object {
  const messageTypes = Object.values(messages).filter(({ type }) => !internal.test(type));
  const each = <Entry>(entry: (messageType: SuiteMessageType) => Entry): Record<string, Entry> =>
    Object.fromEntries(messageTypes.map((messageType) => [messageType.type, entry(messageType)]));
  return {
    asyncapi: '3.0.0',
    info: { title: 'Messages', version: '1.0.0', description },
    defaultContentType: 'application/json',
    servers: { broker: { host: 'localhost:5672', protocol: 'amqp', description: 'RabbitMQ of the suite' } },
    channels: each(({ type, summary }) => ({
      address: type,
      summary,
      messages: { [type]: { $ref: `#/components/messages/${type}` } },
      bindings: { amqp: { is: 'routingKey', exchange, bindingVersion: '0.3.0' } },
    })),
    operations: each(({ type }) => ({
      action: accepted.test(type) ? 'receive' : 'send',
      channel: { $ref: `#/channels/${type}` },
    })),
    components: {
      messages: each((messageType) => ({
        name: messageType.type,
        summary: messageType.summary,
        payload: payloadOf(messageType),
      })),
    },
  };
}

const exchange = {
  name: topologyOf('suite').factsExchange,
  type: 'topic',
  durable: true,
  autoDelete: false,
  vhost: '/',
};

/** JSON Schema draft 7, on which AsyncAPI's own schema format is based. */
function payloadOf({ type, version, schema }: SuiteMessageType): object {
  const message = messageEnvelope.extend({
    type: z.literal(type),
    version: z.literal(version),
    data: schema,
  });
  const { $schema: _draft, ...payload } = z.toJSONSchema(message, { io: 'input', target: 'draft-7' });
  return payload;
}
