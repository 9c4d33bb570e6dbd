import type { MessageQueue } from '@fulfilment/contracts';
import type { GetMessage } from 'amqplib';
import { createHash } from 'node:crypto';
import { rejectionReasonHeader, rejectedAtHeader } from './dead-letter-message.js';

/** A rejected message as shown to an operator: with the ids in it, without text that people wrote. */
export interface DeadLetter {
  readonly queue: MessageQueue;
  /** The first that exists: the id in the message, its AMQP message id, a hash of its bytes. */
  readonly id: string;
  readonly type: string | null;
  readonly reason: string;
  // words: `refused_at` is a public member of the command's output
  readonly refused_at: string | null;
  readonly occurred_at: string | null;
  readonly bytes: number;
  /** Ids of the entities that the message is about, such as `order_id`, `sku` or `creator_id`. */
  readonly about: Readonly<Record<string, string>>;
}

/** Members of a message's data that are ids. */
const idNames = ['order_id', 'sku', 'release_id', 'track_id', 'creator_id'] as const;
/** Members of a message's data that are snapshots with an `id`. */
const entityNames = ['order', 'product', 'creator', 'edition'] as const;

/** Describes a raw message of a dead-letter queue. */
export function describeDeadLetter(
  queue: MessageQueue,
  raw: Pick<GetMessage, 'content' | 'properties'>,
): DeadLetter {
  const message = jsonOf(raw.content);
  const headers: unknown = raw.properties.headers;
  return {
    queue,
    id:
      identifier(member(message, 'id')) ??
      identifier(raw.properties.messageId) ??
      `sha256-${hashOf(raw.content).slice(0, 32)}`,
    type: identifier(member(message, 'type')) ?? null,
    reason: text(member(headers, rejectionReasonHeader)) ?? brokerReason(headers),
    // words: `refused_at` is a public member of the command's output
    refused_at: identifier(member(headers, rejectedAtHeader)) ?? null,
    occurred_at: identifier(member(message, 'occurred_at')) ?? null,
    bytes: raw.content.length,
    about: idsIn(member(message, 'data')),
  };
}

/** Returns the SHA-256 hash of the content, in hexadecimal digits. */
export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns why the broker itself dead-lettered the message, e.g. after too many deliveries. */
function brokerReason(headers: unknown): string {
  const reason = text(member(headers, 'x-first-death-reason'));
  return reason === undefined ? 'unknown' : `dead-lettered by RabbitMQ: ${reason}`;
}

function idsIn(data: unknown): Record<string, string> {
  const candidates: [string, unknown][] = [
    ...idNames.map((name): [string, unknown] => [name, member(data, name)]),
    ...entityNames.flatMap((entity): [string, unknown][] => [
      [`${entity}_id`, member(member(data, entity), 'id')],
      ['creator_id', member(member(data, entity), 'creator_id')],
    ]),
  ];
  return Object.fromEntries(
    candidates.flatMap(([name, value]) => {
      const id = identifier(value);
      return id === undefined ? [] : [[name, id]];
    }),
  );
}

function jsonOf(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value if it has the form of an id, type or time; another may be text that a person wrote. */
function identifier(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : undefined;
}
