import { z } from 'zod';
import { uuid, uuidv7 } from '../ids.js';
import { instant, oneLine } from './fields.js';

/** What every message between services looks like on the wire. */
export interface Message<Type extends string = string, Data = unknown> {
  /** UUIDv7; the key by which a consumer knows a repetition. */
  readonly id: string;
  readonly type: Type;
  readonly version: number;
  readonly occurred_at: string;
  /** W3C Trace Context of the work that caused the fact. */
  readonly traceparent?: string;
  /** The operator whose command sent it, where one did. */
  readonly operator?: string;
  readonly data: Data;
}

export interface MakeOptions {
  readonly id?: string;
  readonly occurredAt: Date;
  readonly traceparent?: string;
}

/** One entry of the catalogue: a fact's name, version and shape. */
export interface MessageKind<Type extends string, Schema extends z.ZodType> {
  readonly type: Type;
  readonly version: number;
  readonly summary: string;
  readonly schema: Schema;
  make(data: z.input<Schema>, options: MakeOptions): Message<Type, z.output<Schema>>;
  /** Whether this message is of this kind; then its data has the kind's shape (it was parsed by `parseMessage`). */
  is(message: Message): message is Message<Type, z.output<Schema>>;
}

export function defineMessage<Type extends string, Schema extends z.ZodType>(
  type: Type,
  version: number,
  summary: string,
  schema: Schema,
): MessageKind<Type, Schema> {
  return {
    type,
    version,
    summary,
    schema,
    make: (data, { id, occurredAt, traceparent }) => ({
      id: id ?? uuidv7(occurredAt),
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
  type: z
    .string()
    .max(100)
    .regex(...oneLine),
  version: z.int().min(1),
  occurred_at: instant,
  traceparent: z
    .string()
    .max(60)
    .regex(...oneLine)
    .optional(),
  operator: z
    .string()
    .max(100)
    .regex(...oneLine)
    .optional(),
  data: z.unknown(),
});
