import { InvalidMessage, type Message, parseEnvelope, parseMessage } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, Database, statement, type Transaction } from '@fulfilment/database';
import { Outbox, recordOutcome, RefusedMessage } from '@fulfilment/messaging';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { EarlyReport } from './early-report.js';

const queue = 'store-api.fulfilment';
const mostPerOrder = 100;
const lookEveryMs = 2_000;
const batchSize = 50;

const known = statement(
  'held.known',
  `SELECT count(*) FILTER (WHERE message_id <> $2) AS others,
          bool_or(message_id = $2 AND held_at + $3::bigint * interval '1 millisecond' <= now()) AS overdue
   FROM held_reports WHERE order_id = $1`,
);
// Looked at again after 30 s, then less and less often, and when its time is over.
const hold = statement(
  'held.hold',
  `INSERT INTO held_reports AS held (message_id, order_id, occurred_at, body, retry_at)
   VALUES ($1, $2, $3, $4, now() + least(interval '30 seconds', $5::bigint * interval '1 millisecond'))
   ON CONFLICT (message_id) DO UPDATE SET
     retry_at = least(now() + greatest(interval '30 seconds', least(now() - held.held_at, interval '1 hour')),
                      held.held_at + $5::bigint * interval '1 millisecond')`,
);
const heldOf = statement(
  'held.of-order',
  'SELECT message_id, body::text AS body FROM held_reports WHERE order_id = $1 ORDER BY occurred_at, message_id',
);
const forget = statement('held.forget', 'DELETE FROM held_reports WHERE message_id = $1');
const dueNow = statement('held.due-now', 'UPDATE held_reports SET retry_at = now() WHERE message_id = $1');
// Sent again once more a while later, should this one be lost; one whose time is over is refused by then, and sent no more.
const takeDue = statement(
  'held.take-due',
  `UPDATE held_reports h SET retry_at = CASE WHEN held_at + $1::bigint * interval '1 millisecond' <= now()
                                        THEN 'infinity' ELSE now() + interval '5 minutes' END
   FROM (SELECT message_id FROM held_reports WHERE retry_at <= now() ORDER BY retry_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) AS due
   WHERE h.message_id = due.message_id RETURNING h.message_id, h.body::text AS body`,
);
// A refusal rolls back, so what was refused stands here still. Neither row is waited for: who has one in hand sees to the other.
const forgetRefused = statement(
  'held.forget-refused',
  `DELETE FROM held_reports WHERE message_id IN (
     SELECT h.message_id FROM held_reports h JOIN inbox i ON i.message_id = h.message_id AND i.queue = $1
     WHERE (h.retry_at <= now() OR h.retry_at = 'infinity') AND i.outcome = 'refused'
     LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`,
);
const forgetOverdue = statement(
  'held.forget-overdue',
  `DELETE FROM held_reports WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM held_reports
     WHERE retry_at = 'infinity' AND held_at < now() - interval '7 days' - $1::bigint * interval '1 millisecond' LIMIT 1000))`,
);

interface HeldReport {
  readonly message_id: string;
  readonly body: string;
}

/**
 * Reports that came before what they build on. They wait in PostgreSQL: each is taken up in the transaction of the report that makes sense of it,
 * sent again by itself now and then, and refused when its time is over.
 */
@Injectable()
export class HoldReports {
  private readonly loop: BackgroundLoop;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly outbox: Outbox,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.loop = new BackgroundLoop({
      name: 'held-reports',
      intervalMs: lookEveryMs,
      logger,
      round: () => this.round(),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** @throws RefusedMessage when it has waited long enough, or too many wait for the order */
  async hold(tx: Transaction, message: Message, early: EarlyReport): Promise<void> {
    const withinMs = this.config.REPORT_HELD_MS;
    const held = await tx.row<{ others: number; overdue: boolean | null }>(known, [
      early.orderId,
      message.id,
      withinMs,
    ]);
    if (held?.overdue === true) throw new RefusedMessage(`${early.message}; waited ${withinMs / 1000} s`);
    if ((held?.others ?? 0) >= mostPerOrder)
      throw new RefusedMessage(`${early.message}; ${mostPerOrder} reports of the order wait already`);
    await tx.run(hold, [message.id, early.orderId, message.occurred_at, JSON.stringify(message), withinMs]);
    await recordOutcome(tx, queue, message.id, 'held', early.message);
  }

  /**
   * Applies what waited for this, in the order it happened, again and again while one of them made sense of another.
   * @param apply throws before it writes anything
   */
  async release(tx: Transaction, orderId: string, apply: (message: Message) => Promise<void>): Promise<void> {
    for (let progress = true; progress;) {
      progress = false;
      for (const { message_id: id, body } of await tx.rows<HeldReport>(heldOf, [orderId])) {
        const outcome = await tryTo(() => apply(parseMessage(body)));
        if (outcome === 'nonsense') await tx.run(dueNow, [id]); // refused by itself, not with this report
        if (outcome !== 'applied') continue;
        await tx.run(forget, [id]);
        await recordOutcome(tx, queue, id, 'applied');
        progress = true;
      }
    }
  }

  /** A report that waited and came again was applied. */
  async forget(tx: Transaction, messageId: string): Promise<void> {
    await tx.run(forget, [messageId]);
  }

  /** Sends what is due to its queue again, under its own id, but for what was refused since. Answers whether there may be more. */
  async round(): Promise<boolean> {
    const withinMs = this.config.REPORT_HELD_MS;
    if ((await this.database.run(forgetRefused, [queue])) === batchSize) return true;
    const sent = await this.database.transaction(async (tx) => {
      const due = await tx.rows<HeldReport>(takeDue, [withinMs]);
      for (const report of due) await this.sendAgain(tx, report);
      return due.length;
    });
    const forgot = await this.database.run(forgetOverdue, [withinMs]);
    return sent === batchSize || forgot === 1000;
  }

  /** What the catalogue of messages no longer knows as it was kept goes to the dead letters by the same way, and waits no more. */
  private async sendAgain(tx: Transaction, { message_id: id, body }: HeldReport): Promise<void> {
    const message = readOr(() => parseMessage(body));
    if (message instanceof InvalidMessage) {
      this.logger.error(
        { message_id: id, reason: message.message },
        'A held report cannot be read any more.',
      );
      await tx.run(forget, [id]);
      await recordOutcome(tx, queue, id, 'refused', message.message);
    }
    const envelope = readOr(() => parseEnvelope(body));
    if (!(envelope instanceof InvalidMessage)) await this.outbox.add(tx, envelope);
  }
}

async function tryTo(apply: () => Promise<void>): Promise<'applied' | 'early' | 'nonsense'> {
  try {
    await apply();
    return 'applied';
  } catch (error) {
    if (error instanceof EarlyReport) return 'early';
    if (error instanceof RefusedMessage || error instanceof InvalidMessage) return 'nonsense';
    throw error;
  }
}

function readOr(read: () => Message): Message | InvalidMessage {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidMessage) return error;
    throw error;
  }
}
