import { type Message, routingKeyOf } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { currentContext, isTracing } from '@fulfilment/runtime';
import { recordCreateSpan } from '../message-spans.js';

// The column `type` holds the routing key, which differs from the message's type for test orders (ADR 66).
const insertMessages = statement(
  'outbox.insert',
  `INSERT INTO outbox (message_id, type, body)
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::jsonb[])`,
);

/** The messages that a service will publish, each written in the transaction of the reported change. */
export class Outbox {
  private wake: () => void = () => undefined;

  /** Sets the callback that runs after each commit that wrote messages; the relay sets it. */
  onWritten(wake: () => void): void {
    this.wake = wake;
  }

  /** Writes messages to the outbox. The relay publishes them after the commit. */
  async add(tx: Transaction, ...messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const rows = messages.map(outboxRow);
    await tx.run(insertMessages, [
      rows.map((row) => row.message_id),
      rows.map((row) => row.routing_key),
      rows.map((row) => row.message_body),
    ]);
    tx.afterCommit(() => this.wakeRelay());
  }

  /** Call after the commit of a statement that inserted an `outboxRow`. */
  wakeRelay(): void {
    this.wake();
  }
}

/** The row of a message, for a statement that inserts it together with other rows. */
export function outboxRow(message: Message) {
  const ofCreateSpan = isTracing() ? recordCreateSpan(message) : undefined;
  const traceparent = ofCreateSpan ?? message.traceparent ?? currentContext()?.traceparent;
  const body = traceparent === undefined ? message : { ...message, traceparent };
  return { message_id: message.id, routing_key: routingKeyOf(message), message_body: JSON.stringify(body) };
}
