import { BACKGROUND_DATABASE, Database, statement } from '@fulfilment/database';
import { BackgroundLoop, Counter, Gauge, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { PaymentGateway } from '../../payments/payment-gateway.js';
import { type FindingKind, reconcilePayments } from './reconcile-payments.js';

const pollIntervalMs = 600_000;
/** Time after which another replica may take over the day of a replica that died. */
const leaseMs = 3_600_000;
/** Time after which a day that could not be reconciled is due again, for any replica. */
const retryDelayMs = 600_000;

// Claims the oldest unfinished day that no replica has leased. The last seven days are due, each from an hour
// after its end, since late outcomes are settled by then. An earlier day is due if it was claimed but not
// finished.
const claimDay = statement(
  'reconciliation.claim-day',
  `INSERT INTO payment_reconciliations AS claimed (day, lease_until)
   SELECT day, now() + $1::int * interval '1 millisecond'
   FROM (SELECT generate_series(ended - interval '7 days', ended - interval '1 day', interval '1 day')::date AS day
         FROM date_trunc('day', (now() - interval '1 hour') AT TIME ZONE 'UTC') AS ended
         UNION SELECT day FROM payment_reconciliations WHERE finished_at IS NULL) AS due
   WHERE NOT EXISTS (SELECT FROM payment_reconciliations done
                     WHERE done.day = due.day AND (done.finished_at IS NOT NULL OR done.lease_until > now()))
   ORDER BY day LIMIT 1
   ON CONFLICT (day) DO UPDATE SET lease_until = excluded.lease_until
     WHERE claimed.finished_at IS NULL AND claimed.lease_until <= now()
   RETURNING (day::timestamp AT TIME ZONE 'UTC') AS "from", ((day + 1)::timestamp AT TIME ZONE 'UTC') AS "to", day::text`,
);
const finishDay = statement(
  'reconciliation.finish-day',
  'UPDATE payment_reconciliations SET finished_at = now(), findings = $2 WHERE day = $1',
);
const setLease = statement(
  'reconciliation.set-lease',
  `UPDATE payment_reconciliations SET lease_until = now() + $2::int * interval '1 millisecond' WHERE day = $1 AND finished_at IS NULL`,
);
// The start of the oldest unfinished day, or the end of the newest finished one; null before the first day.
const readEnd = statement(
  'reconciliation.end',
  `SELECT extract(epoch FROM coalesce(min(day) FILTER (WHERE finished_at IS NULL), max(day) + 1))::bigint AS until
   FROM payment_reconciliations`,
);

const kinds: readonly FindingKind[] = ['unknown_payment', 'missing_payment', 'failed_refund'];
const findingCounter = new Counter<'kind'>({
  name: 'payment_reconciliation_findings_total',
  help: 'Differences between our charges and those of the payment provider, by kind',
  labelNames: ['kind'],
});
const reconciledUntil = new Gauge({
  name: 'payment_reconciled_until_seconds',
  help: 'Unix time up to which the payments of every day are reconciled with the payment provider; 0 before the first day',
});

/** Compares the payments of each day with those of the payment provider, once for all replicas. */
@Injectable()
export class DailyReconciliation extends BackgroundLoop {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly gateway: PaymentGateway,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super({ name: 'reconciliation', intervalMs: pollIntervalMs, logger, round: () => this.round() });
    // The counts start at 0, so that alerts see the first finding as an increase.
    for (const kind of kinds) findingCounter.inc({ kind }, 0);
  }

  /** Ends the current reconciliation and leaves its day to another replica. */
  override async stop(): Promise<void> {
    this.stopping.abort();
    await super.stop();
  }

  /** Reconciles at most one day. Returns whether another may be due. */
  async round(): Promise<boolean> {
    await this.measureEnd(); // first, since a reconciliation may take minutes
    const claimed = await this.database.row<{ from: Date; to: Date; day: string }>(claimDay, [leaseMs]);
    if (claimed !== undefined) {
      await this.reconcile(claimed);
      await this.measureEnd();
    }
    return claimed !== undefined && !this.stopping.signal.aborted;
  }

  private async measureEnd(): Promise<void> {
    const end = await this.database.row<{ until: number | null }>(readEnd);
    reconciledUntil.set(end?.until ?? 0);
  }

  private async reconcile({ from, to, day }: { from: Date; to: Date; day: string }): Promise<void> {
    try {
      const result = await reconcilePayments({
        database: this.database,
        gateway: this.gateway,
        range: { from, to },
        signal: this.stopping.signal,
        onHourCompared: () => this.database.run(setLease, [day, leaseMs]),
      });
      for (const { kind, reference, chargeId } of result.findings) {
        findingCounter.inc({ kind });
        this.logger.error(
          { kind, reference, charge_id: chargeId, day },
          'A payment differs from that of the payment provider.',
        );
      }
      await this.database.run(finishDay, [day, result.findings.length]);
      const { payments, charges } = result;
      this.logger.info(
        { day, payments, charges },
        'Reconciled the payments of a day with the payment provider.',
      );
    } catch (error) {
      if (!this.stopping.signal.aborted)
        this.logger.error({ error, day }, 'The payments of a day could not be reconciled; will retry.');
      await this.database.run(setLease, [day, retryDelayMs]);
    }
  }
}
