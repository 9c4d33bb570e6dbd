import { messageQueues, messages, type SuiteMessageType } from '@fulfilment/contracts';
import { z } from 'zod';
import { table } from './markdown.ts';
import { fieldTable } from './schema-table.ts';

/** The reference page of all messages, with the schemas of their data. */
export function messagesReference(): string {
  const messageTypes = Object.values(messages);
  // Several messages share a shape; each shape is listed once.
  const shapes = Map.groupBy<string, SuiteMessageType>(messageTypes, ({ schema }) =>
    fieldTable(z.toJSONSchema(schema, { io: 'input' })),
  );
  return [
    '# Messages',
    '',
    'Services publish messages over RabbitMQ to one topic exchange (`suite.facts`). The routing key is the message type, with `order.test.` instead of `order.` for test orders. Each consumer has a quorum queue',
    'and a dead-letter queue (`….dead`). A message is JSON with `id` (UUIDv7; a consumer handles each id once), `type`, `version`, `occurred_at`, `data`,',
    'and optionally `traceparent` (W3C Trace Context) and `operator` (the person whose command published it). A message may arrive more than once, late or out of order.',
    '',
    'The same as an AsyncAPI 3 document: [asyncapi.json](asyncapi.json).',
    '',
    "The pressing plant and the warehouse publish the `fulfilment.*` messages. `GET /messages/{id}` on store-api's internal port returns the status of a message:",
    '`applied`, `held` with the event that it waits for, or `refused` with the reason (the message is then in the dead-letter queue).',
    'Times in these messages are RFC 3339 in UTC, from the year 1. Texts contain no control characters and no unpaired surrogates (`reason` may have several lines).',
    '',
    '## Queues',
    '',
    table(
      ['Queue', 'Receives'],
      Object.entries(messageQueues).map(([name, types]) => [
        `\`suite.${name}\``,
        types.map((type) => `\`${type}\``).join(', ') || '`replay.*`, sent directly to the queue',
      ]),
    ),
    '',
    'The messages of `store-api.fulfilment` are distributed to shards: those about orders by order, and those about stock by product (ADR 44).',
    '',
    '## Types',
    '',
    table(
      ['Type', 'Version', 'Meaning'],
      messageTypes.map(({ type, version, summary }) => [`\`${type}\``, String(version), summary]),
    ),
    '',
    '## Data',
    '',
    ...[...shapes].flatMap(([fields, typesOfShape]) => [
      `### ${typesOfShape.map(({ type }) => type).join(', ')}`,
      '',
      fields,
      '',
    ]),
  ].join('\n');
}
