import { z } from 'zod';
import { uuid, uuidv7 } from '../ids.js';
import { instant, oneLine } from './fields.js';

/** The envelope of every message between services. */
export interface Message<Type extends string = string, Data = unknown> {
  /** UUIDv7; consumers use it to detect duplicates. */
  readonly id: string;
  readonly type: Type;
  readonly version: number;
  readonly occurred_at: string;
  /** W3C Trace Context of the request or job that caused the message. */
  readonly traceparent?: string;
  /** The operator whose command published it, if any. */
  readonly operator?: string;
  readonly data: Data;
}

export interface MessageOptions {
  readonly occurredAt: Date;
  readonly traceparent?: string;
}

/** A type of message: its name, version and schema. */
export interface MessageType<Type extends string, Schema extends z.ZodType> {
  readonly type: Type;
  readonly version: number;
  readonly summary: string;
  readonly schema: Schema;
  /** Returns a message with validated data and a new id. @throws z.ZodError */
  make(data: z.input<Schema>, options: MessageOptions): Message<Type, z.output<Schema>>;
  /** Whether a message that `parseMessage` returned is of this type. */
  is(message: Message): message is Message<Type, z.output<Schema>>;
}

/** Declares a type of message. @param schema of its data */
export function defineMessage<Type extends string, Schema extends z.ZodType>(
  type: Type,
  summary: string,
  schema: Schema,
): MessageType<Type, Schema> {
  const version = 1; // no message has a second version yet
  return {
    type,
    version,
    summary,
    schema,
    make: (data, { occurredAt, traceparent }) => ({
      id: uuidv7(occurredAt),
      type,
      version,
      occurred_at: occurredAt.toISOString(),
      ...(traceparent === undefined ? {} : { traceparent }),
      data: schema.parse(data),
    }),
    is: (message): message is Message<Type, z.output<Schema>> => message.type === type,
  };
}

export const messageEnvelope = z.object({
  id: uuid,
  type: z.string().max(100).regex(oneLine.pattern, oneLine.message),
  version: z.int().min(1),
  occurred_at: instant,
  traceparent: z.string().max(60).regex(oneLine.pattern, oneLine.message).optional(),
  operator: z.string().max(100).regex(oneLine.pattern, oneLine.message).optional(),
  data: z.unknown(),
});
