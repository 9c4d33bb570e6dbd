import { messageQueues, messages } from '@fulfilment/contracts';
import { z } from 'zod';
import { fieldRows } from './schema-table.ts';

type Kind = (typeof messages)[keyof typeof messages];

/** Messages between services and from the fulfilment side, with their shapes. */
export function messagesReference(): string {
  const kinds = Object.values(messages);
  // Several facts tell the same shape; each shape stands once.
  const shapes = Map.groupBy<string, Kind>(kinds, ({ schema }) =>
    fieldRows(z.toJSONSchema(schema, { io: 'input' })).join('\n'),
  );
  return [
    '# Messages',
    '',
    'Facts that travel over RabbitMQ: one topic exchange (`suite.facts`), the routing key is the type, a quorum queue per consumer and',
    'a dead-letter queue (`….dead`) beside each. A message is JSON: `id` (UUIDv7; a consumer handles one id once), `type`, `version`,',
    '`occurred_at`, optional `traceparent` (W3C Trace Context) and `operator` (who had it sent), and `data`. A message may come twice or late; the order of arrival means nothing.',
    '',
    'The pressing plant and the warehouse publish the `fulfilment.*` messages. What became of one is told by',
    "`GET /messages/{id}` on store-api's internal port: `applied`, `held` with what it waits for, or `refused` with its reason (it is then in the",
    'dead-letter queue). Their times are RFC 3339 in UTC, from the year 1; their text has neither control characters nor halves of surrogate pairs',
    '(`reason` may have several lines).',
    '',
    '## Queues',
    '',
    '| Queue | Takes |',
    '| --- | --- |',
    ...Object.entries(messageQueues).map(
      ([name, types]) =>
        `| \`suite.${name}\` | ${types.map((type) => `\`${type}\``).join(', ') || '`replay.*`, written to it directly'} |`,
    ),
    '',
    '## Types',
    '',
    '| Type | Version | Says |',
    '| --- | --- | --- |',
    ...kinds.map(({ type, version, summary }) => `| \`${type}\` | ${version} | ${summary} |`),
    '',
    '## Data',
    '',
    ...[...shapes].flatMap(([rows, of]) => [
      `### ${of.map(({ type }) => type).join(', ')}`,
      '',
      '| Field | Type | Notes |',
      '| --- | --- | --- |',
      rows,
      '',
    ]),
  ].join('\n');
}
