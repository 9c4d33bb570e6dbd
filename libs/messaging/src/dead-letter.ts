import type { MessageQueue } from '@fulfilment/contracts';
import type { GetMessage } from 'amqplib';
import { createHash } from 'node:crypto';
import { refusalReasonHeader, refusedAtHeader } from './dead-letters.js';

/** A refused message as an operator sees it: what it is about by its ids, nothing of what people wrote. */
export interface DeadLetter {
  readonly queue: MessageQueue;
  /** The message's id; of what has none and cannot be read, a name made of its bytes. */
  readonly id: string;
  readonly type: string | null;
  readonly reason: string;
  readonly refused_at: string | null;
  readonly occurred_at: string | null;
  readonly bytes: number;
  /** Order, product, release, creator: by the names they have in the message. */
  readonly about: Readonly<Record<string, string>>;
}

const idNames = ['order_id', 'sku', 'release_id', 'track_id', 'creator_id'] as const;
const thingNames = ['order', 'product', 'creator', 'edition'] as const;

export function deadLetter(queue: MessageQueue, raw: Pick<GetMessage, 'content' | 'properties'>): DeadLetter {
  const message = jsonOf(raw.content);
  const headers: unknown = raw.properties.headers;
  const named: unknown = raw.properties.messageId ?? member(message, 'id');
  return {
    queue,
    id: plain(named) ?? `sha256-${createHash('sha256').update(raw.content).digest('hex').slice(0, 32)}`,
    type: plain(member(message, 'type')) ?? null,
    reason: text(member(headers, refusalReasonHeader)) ?? brokersReason(headers),
    refused_at: plain(member(headers, refusedAtHeader)) ?? null,
    occurred_at: plain(member(message, 'occurred_at')) ?? null,
    bytes: raw.content.length,
    about: idsIn(member(message, 'data')),
  };
}

/** What the broker itself set aside, as after too many deaths of its consumer (`x-first-death-reason`). */
function brokersReason(headers: unknown): string {
  const reason = text(member(headers, 'x-first-death-reason'));
  return reason === undefined ? 'unknown' : `set aside by RabbitMQ: ${reason}`;
}

function idsIn(data: unknown): Record<string, string> {
  const places: [string, unknown][] = [
    ...idNames.map((name): [string, unknown] => [name, member(data, name)]),
    ...thingNames.flatMap((thing): [string, unknown][] => [
      [`${thing}_id`, member(member(data, thing), 'id')],
      ['creator_id', member(member(data, thing), 'creator_id')],
    ]),
  ];
  return Object.fromEntries(
    places.flatMap(([name, value]) => {
      const id = plain(value);
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

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An id, a type or a time; anything else could be what a person wrote. */
function plain(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : undefined;
}
