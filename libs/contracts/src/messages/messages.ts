import { z } from 'zod';
import { clientMessages } from './client-messages.js';
import { creatorMessages } from './creator-messages.js';
import { fulfilmentMessages } from './fulfilment-messages.js';
import { type Message, messageEnvelope } from './message.js';
import { orderMessages } from './order-messages.js';
import { productMessages } from './product-messages.js';
import { replayMessages } from './replay-messages.js';
import { webhookMessages } from './webhook-messages.js';

/** Every message between services, by name. */
export const messages = {
  ...orderMessages,
  ...productMessages,
  ...creatorMessages,
  ...clientMessages,
  ...fulfilmentMessages,
  ...replayMessages,
  ...webhookMessages,
} as const;

/** Any of the message types above. */
export type SuiteMessageType = (typeof messages)[keyof typeof messages];

/** A message of an unknown type or an invalid shape. The reason names fields, never values of its data. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
  /** Id with which the sender can query the outcome of the message. Undefined if its envelope is invalid. */
  readonly messageId: string | undefined;

  constructor(reason: string, messageId?: string) {
    super(reason);
    this.messageId = messageId;
  }
}

const messageTypes = new Map<string, { version: number; schema: z.ZodType }>(
  Object.values(messages).map((messageType) => [messageType.type, messageType]),
);

/** Parses the envelope of a message of any type, without validating its data. @throws InvalidMessage */
export function parseEnvelope(bytes: Buffer | string): Message {
  return validate(messageEnvelope, parseJson(bytes), 'message');
}

/** Parses and validates a message. @throws InvalidMessage */
export function parseMessage(bytes: Buffer | string): Message {
  const envelope = parseEnvelope(bytes);
  const messageType = messageTypes.get(envelope.type);
  const { id, type, version } = envelope;
  if (messageType === undefined) throw new InvalidMessage(`unknown type ${type}`, id);
  if (version !== messageType.version) throw new InvalidMessage(`${type} has no version ${version}`, id);
  return { ...envelope, data: validate<unknown>(messageType.schema, envelope.data, `${type} data`, id) };
}

function parseJson(bytes: Buffer | string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new InvalidMessage('not JSON');
  }
}

/** @param name shown in the reason of the rejection */
function validate<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  name: string,
  messageId?: string,
): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new InvalidMessage(`${name}: ${issues.join('; ')}`, messageId);
}
