import { z } from 'zod';

/** Lists for a person to read, one line for each thing. */

const auditPage = z.object({
  events: z.array(
    z.object({
      at: z.string(),
      event: z.string(),
      user_id: z.string().nullable(),
      email: z.string().nullable(),
      client_id: z.string().nullable(),
      ip: z.string().nullable(),
      user_agent: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  before: z.string().nullable(),
});

/** The audit log, the newest last. */
export function auditTable(result: unknown): string {
  const { events, before } = auditPage.parse(result);
  const rows = events.map((one) => [
    one.at,
    one.event,
    one.email ?? one.user_id ?? '-',
    one.client_id ?? '-',
    one.ip ?? '-',
    Object.keys(one.details).length === 0 ? '-' : JSON.stringify(one.details),
    one.user_agent ?? '-',
  ]);
  const head = ['AT', 'EVENT', 'USER', 'CLIENT', 'ADDRESS', 'DETAILS', 'USER AGENT'];
  return table(head, rows, before === null ? undefined : `Older records: --before ${before}`);
}

const operatorAuditPage = z.object({
  records: z.array(
    z.object({
      started_at: z.string(),
      operator: z.string(),
      command: z.string(),
      subjects: z.array(z.string()),
      options: z.array(z.string()),
      outcome: z.string(),
    }),
  ),
  before: z.string().nullable(),
});

/** Commands of operators, newest last. */
export function operatorAuditTable(result: unknown): string {
  const { records, before } = operatorAuditPage.parse(result);
  const rows = records.map((one) => [
    one.started_at,
    one.operator,
    one.command,
    one.subjects.join(' ') || '-',
    one.options.map((option) => `--${option}`).join(' ') || '-',
    one.outcome,
  ]);
  const head = ['AT', 'OPERATOR', 'COMMAND', 'SUBJECTS', 'OPTIONS', 'OUTCOME'];
  return table(head, rows, before === null ? undefined : `Older records: --before ${before}`);
}

const clientPage = z.object({
  clients: z.array(
    z.object({
      client_id: z.string(),
      name: z.string().nullable(),
      first_party: z.boolean(),
      confidential: z.boolean(),
      resource_server: z.boolean(),
      redirect_uris: z.array(z.string()),
      registered_at: z.string(),
    }),
  ),
  next: z.string().nullable(),
});

/** Clients by id. */
export function clientTable(result: unknown): string {
  const { clients, next } = clientPage.parse(result);
  const rows = clients.map((one) => [
    one.client_id,
    one.name ?? '-',
    `${one.first_party ? 'first' : 'third'} party`,
    one.resource_server ? 'resource server' : one.confidential ? 'confidential' : 'public',
    one.registered_at,
    one.redirect_uris.join(' ') || '-',
  ]);
  const head = ['CLIENT', 'NAME', 'PARTY', 'KIND', 'REGISTERED', 'REDIRECT URIS'];
  return table(head, rows, next === null ? undefined : `More: --after ${next}`);
}

const deadLetters = z.object({
  queues: z.array(z.object({ queue: z.string(), waiting: z.number() })),
  letters: z.array(
    z.object({
      queue: z.string(),
      id: z.string(),
      type: z.string().nullable(),
      reason: z.string(),
      refused_at: z.string().nullable(), // words: public member of the command's output
      about: z.record(z.string(), z.string()),
    }),
  ),
});

/** Rejected messages, oldest of each queue first, and their number. */
export function deadLetterTable(result: unknown): string {
  const { queues, letters } = deadLetters.parse(result);
  const rows = letters.map((one) => [
    one.queue,
    one.id,
    one.type ?? '-',
    one.refused_at ?? '-', // words: public member
    Object.entries(one.about)
      .map(([name, id]) => `${name}=${id}`)
      .join(' ') || '-',
    one.reason,
  ]);
  const waiting = queues.map(({ queue, waiting: count }) => `${queue} ${count}`).join(', ');
  return table(['QUEUE', 'MESSAGE', 'TYPE', 'REJECTED', 'ABOUT', 'REASON'], rows, `Waiting: ${waiting}.`);
}

const webhookPage = z.object({
  subscriptions: z.array(
    z.object({
      id: z.string(),
      client_id: z.string(),
      url: z.string(),
      events: z.array(z.string()),
      status: z.string(),
      consecutive_failures: z.number(),
      created_at: z.string(),
      last_delivery_at: z.string().nullable(),
      disabled_reason: z.string().nullable(),
      deleted_at: z.string().nullable(),
      deleted_reason: z.string().nullable(),
    }),
  ),
  next: z.string().nullable(),
});

/** A creator's webhook subscriptions, the oldest first. */
export function webhookTable(result: unknown): string {
  const { subscriptions, next } = webhookPage.parse(result);
  const rows = subscriptions.map((one) => {
    const [state, reason] =
      one.deleted_at === null ? [one.status, one.disabled_reason] : ['deleted', one.deleted_reason];
    return [
      one.id,
      one.client_id,
      reason === null ? state : `${state} (${reason})`,
      String(one.consecutive_failures),
      one.created_at,
      one.last_delivery_at ?? '-',
      one.events.join(' '),
      one.url,
    ];
  });
  const head = ['SUBSCRIPTION', 'CLIENT', 'STATUS', 'FAILURES', 'CREATED', 'LAST DELIVERY', 'EVENTS', 'URL'];
  return table(head, rows, next === null ? undefined : `More: --after ${next}`);
}

/**
 * A table with aligned columns. Control characters in cells are replaced, so that they cannot affect the
 * terminal.
 */
function table(head: readonly string[], rows: readonly (readonly string[])[], rest?: string): string {
  const lines = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...text, ...(rest === undefined ? [] : [rest])].join('\n');
}

function printable(cell: string): string {
  return cell.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
