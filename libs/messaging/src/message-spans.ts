import type { Message, MessageQueue } from '@fulfilment/contracts';
import {
  currentSpan,
  endFailed,
  isTracing,
  nextTraceparent,
  Span,
  startChildOf,
  startTrace,
  type Trace,
} from '@fulfilment/runtime';

/** The traces of messages that are being handled. The keys are the objects that the handlers receive. */
const traces = new WeakMap<Message, Trace>();
const system = { 'messaging.system': 'rabbitmq' };

/** Returns the trace of a message that is being handled; undefined if this process records no spans. */
export function traceOf(message: Message): Trace {
  return traces.get(message);
}

/**
 * Applies messages, and records a span for each in the trace of the message. `apply` gets the messages with
 * the traceparents of these spans, so that the effects of a message become children of its span.
 * @param apply also gets the first recorded span, for the transaction that the messages share
 */
export async function inMessageSpans(
  queue: MessageQueue,
  messages: readonly Message[],
  apply: (messages: readonly Message[], span?: Span) => Promise<void>,
): Promise<void> {
  if (!isTracing()) return apply(messages);
  const spans: Span[] = [];
  const traced = messages.map((message) => {
    const trace = startTrace(
      {
        name: `process ${message.type}`,
        kind: 'consumer',
        attributes: {
          ...system,
          'messaging.operation.type': 'process',
          'messaging.operation.name': 'process',
          'messaging.destination.name': queue,
          'messaging.rabbitmq.destination.routing_key': message.type,
          'messaging.message.id': message.id,
          ...(messages.length > 1 && { 'messaging.batch.message_count': messages.length }),
        },
      },
      { received: message.traceparent, originId: message.id, isTrusted: true },
    );
    if (trace instanceof Span) spans.push(trace);
    const handled = { ...message, traceparent: traceparentOf(trace, message) };
    traces.set(handled, trace);
    return handled;
  });
  try {
    await apply(traced, spans[0]);
    for (const span of spans) span.end();
  } catch (error) {
    for (const span of spans) endFailed(span, error);
    throw error;
  }
}

function traceparentOf(trace: Trace, { id, traceparent }: Message): string {
  return trace instanceof Span
    ? trace.traceparent
    : nextTraceparent(traceparent, { originId: id, isSampled: false });
}

/**
 * Records that a message was written to the outbox. Returns the traceparent of the span; undefined if the
 * trace is not sampled.
 */
export function recordCreateSpan({ id, type, traceparent }: Message): string | undefined {
  const start = {
    name: `create ${type}`,
    kind: 'producer',
    attributes: {
      ...system,
      'messaging.operation.type': 'create',
      'messaging.operation.name': 'create',
      'messaging.destination.name': type,
      'messaging.message.id': id,
    },
  } as const;
  const span = traceparent === undefined ? currentSpan()?.child(start) : startChildOf(traceparent, start);
  span?.end();
  return span?.traceparent;
}

// PostgreSQL orders the keys of jsonb by length, then by bytes, so `traceparent` is a message's last key.
const traceparentAtEnd = /"traceparent": "(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"\}$/;
/** More than the pattern matches, so that a search in the end of a long body suffices. */
const searchedCharacters = 100;

/** Records that RabbitMQ has confirmed messages, each in a child of the span in its traceparent. */
export function recordSending(
  messages: readonly { readonly message_id: string; readonly routing_key: string; readonly body: string }[],
  startedAtMs: number,
): void {
  for (const { message_id: id, routing_key: routingKey, body } of messages) {
    const attributes = {
      ...system,
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'send',
      'messaging.destination.name': routingKey,
      'messaging.message.id': id,
      ...(messages.length > 1 && { 'messaging.batch.message_count': messages.length }),
    };
    const received = traceparentAtEnd.exec(body.slice(-searchedCharacters))?.[1];
    startChildOf(received, { name: `send ${routingKey}`, kind: 'client', attributes, startedAtMs })?.end();
  }
}
