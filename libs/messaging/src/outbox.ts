import type { Message } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { currentContext } from '@fulfilment/runtime';

const insertMessages = statement(
  'outbox.insert',
  `INSERT INTO outbox (message_id, type, body)
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::jsonb[])`,
);

/**
 * The messages that a service will send. Each is written in the transaction of the change that it reports.
 */
export class Outbox {
  private wakeRelay: () => void = () => undefined;

  /** Sets the callback that runs after each commit that wrote a message. */
  onWritten(wake: () => void): void {
    this.wakeRelay = wake;
  }

  async add(tx: Transaction, ...messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const traceparent = currentContext()?.traceparent;
    await tx.run(insertMessages, [
      messages.map((message) => message.id),
      messages.map((message) => message.type),
      messages.map((message) =>
        JSON.stringify(traceparent === undefined ? message : { traceparent, ...message }),
      ),
    ]);
    tx.afterCommit(() => this.wakeRelay());
  }
}
