import { z } from 'zod';
import { alignColumns } from '../dev/output/align-columns.ts';
import { printable } from '../dev/output/printable.ts';

/** An object as a service's program prints it: the result of a command, or a row of a list. */
type Row = Readonly<Record<string, unknown>>;

interface Table {
  /** The cells by their headings: the name of a member, or a function of the row. */
  readonly columns: Readonly<Record<string, string | ((row: Row) => unknown)>>;
  /** The last line, if any. */
  readonly lastLine: (result: Row) => string | undefined;
}

const olderRecords = ({ before }: Row) =>
  before === null ? undefined : `Older records: --before ${cell(before)}`;
const nextPage = ({ next }: Row) => (next === null ? undefined : `More: --after ${cell(next)}`);
const queueCounts = z.array(z.object({ queue: z.string(), waiting: z.number() }));

/** Tables by the member of the result that contains their rows. */
const tables: Readonly<Record<string, Table>> = {
  // of `audit`: security events of auth-server
  events: {
    columns: {
      AT: 'at',
      EVENT: 'event',
      USER: ({ email, user_id }) => email ?? user_id,
      CLIENT: 'client_id',
      ADDRESS: 'ip',
      DETAILS: ({ details }) => JSON.stringify(details).replace(/^{}$/, ''),
      'USER AGENT': 'user_agent',
    },
    lastLine: olderRecords,
  },
  // of `audit --service`: operator commands of a service
  records: {
    columns: {
      AT: 'started_at',
      OPERATOR: 'operator',
      COMMAND: 'command',
      SUBJECTS: 'subjects',
      OPTIONS: ({ options }) =>
        z
          .array(z.string())
          .parse(options)
          .map((option) => `--${option}`),
      OUTCOME: 'outcome',
    },
    lastLine: olderRecords,
  },
  clients: {
    columns: {
      CLIENT: 'client_id',
      NAME: 'name',
      PARTY: (client) => `${client.first_party === true ? 'first' : 'third'} party`,
      KIND: (client) => {
        if (client.resource_server === true) return 'resource server';
        return client.confidential === true ? 'confidential' : 'public';
      },
      REGISTERED: 'registered_at',
      'REDIRECT URIS': 'redirect_uris',
    },
    lastLine: nextPage,
  },
  letters: {
    columns: {
      QUEUE: 'queue',
      MESSAGE: 'id',
      TYPE: 'type',
      REJECTED: 'refused_at', // words: public member of the command's output
      ABOUT: ({ about }) => Object.entries(rowSchema.parse(about)).map(([name, id]) => `${name}=${cell(id)}`),
      REASON: 'reason',
    },
    lastLine: ({ queues }) => {
      const waiting = queueCounts.parse(queues).map(({ queue, waiting: count }) => `${queue} ${count}`);
      return `Waiting: ${waiting.join(', ')}.`;
    },
  },
  subscriptions: {
    columns: {
      SUBSCRIPTION: 'id',
      CLIENT: 'client_id',
      STATUS: ({ status, disabled_reason, deleted_at, deleted_reason }) =>
        deleted_at === null ? withReason(status, disabled_reason) : withReason('deleted', deleted_reason),
      FAILURES: 'consecutive_failures',
      CREATED: 'created_at',
      'LAST DELIVERY': 'last_delivery_at',
      EVENTS: 'events',
      URL: 'url',
    },
    lastLine: nextPage,
  },
};

function withReason(state: unknown, reason: unknown): unknown {
  return reason === null ? state : `${cell(state)} (${cell(reason)})`;
}

const rowSchema = z.record(z.string(), z.unknown());

/** Formats the output of a command for a person: a list as a table, anything else as a line per member. */
export function format(result: Row): string {
  const [list, table] = Object.entries(tables).find(([member]) => Object.hasOwn(result, member)) ?? [];
  if (list !== undefined && table !== undefined) return formatTable(list, table, result);
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map(printable)
    .join('\n');
}

function formatTable(list: string, { columns, lastLine }: Table, result: Row): string {
  const rows = z.array(rowSchema).parse(result[list]);
  const contents = Object.values(columns);
  const lines = alignColumns([
    Object.keys(columns),
    ...rows.map((row) =>
      contents.map((content) => cell(typeof content === 'string' ? row[content] : content(row))),
    ),
  ]);
  const last = lastLine(result);
  return [...lines, ...(last === undefined ? [] : [last])].join('\n');
}

/** Formats a value or a list of values. */
function cell(value: unknown): string {
  const parts = z.array(z.union([z.string(), z.number()])).parse([value ?? []].flat());
  return printable(parts.join(' ') || '-');
}
