import { isUuid, nilUuid } from '@fulfilment/contracts';
import { type Database, keysetPages, statement } from '@fulfilment/database';
import type { ChargeStatus } from '../open-charge.js';
import type { Charge, PaymentGateway, ProviderPayment, TimeRange } from '../../payments/payment-gateway.js';

export type FindingKind =
  /** A payment at the provider, not refunded, that matches no pending or paid charge of ours. */
  | 'unknown_payment'
  /** A charge that is paid here and has no payment at the provider. */
  | 'missing_payment'
  /** A charge that is refunded here, although the provider's refund has failed since. */
  | 'failed_refund';

interface Finding {
  readonly kind: FindingKind;
  /** The provider's id of the payment or refund; null if it has none, or it is not known. */
  readonly reference: string | null;
  readonly chargeId: string;
}

interface Reconciliation {
  /** Number of our payments at the provider in the time range. */
  readonly payments: number;
  /** Number of our charges that were settled as paid in the time range. */
  readonly charges: number;
  readonly findings: readonly Finding[];
}

/** A refund may fail up to this long after it was made (https://docs.stripe.com/refunds#failed-refunds). */
const maxRefundFailureDelayMs = 30 * 86_400_000;
const hourMs = 3_600_000;
const pageSize = 500;

const readCharges = statement(
  'reconcile.charges',
  'SELECT id, status, provider_reference AS reference FROM charges WHERE id = ANY($1::uuid[])',
);
// Leaves out test charges, which move no money. Sorted as the index of `settled_at`: sorted by id, the first
// page would read all earlier charges, or each page all charges of the range.
export const readSettledAsPaid = statement(
  'reconcile.settled-as-paid',
  `SELECT id, provider_reference AS reference, test AS "isTest", settled_at::text AS "settledAt" FROM charges
   WHERE (settled_at, id) > ($1::timestamptz, $2::uuid) AND settled_at < $3
     AND status IN ('succeeded', 'refund_due', 'refunded') AND NOT test
   ORDER BY settled_at, id LIMIT ${pageSize}`,
);
export const readRefunded = statement(
  'reconcile.refunded',
  `SELECT id, refund_reference AS reference FROM charges WHERE status = 'refunded' AND refund_reference = ANY($1::text[])`,
);

interface ChargeWithStatus extends Pick<Charge, 'id' | 'reference'> {
  readonly status: ChargeStatus;
}

interface SettledCharge extends Charge {
  /** In PostgreSQL's text form, with microseconds. */
  readonly settledAt: string;
}

/** Parameters of `reconcilePayments`. */
interface Comparison {
  readonly database: Database;
  readonly gateway: PaymentGateway;
  readonly range: TimeRange;
  readonly signal: AbortSignal;
  /** Called after each hour of the range. */
  readonly onHourCompared?: () => Promise<unknown>;
}

/**
 * Compares the provider's payments of a time range with our charges, in both directions. Read-only. The
 * memory that it needs is limited by the payments of an hour.
 */
export async function reconcilePayments(comparison: Comparison): Promise<Reconciliation> {
  const total = { payments: 0, charges: 0, findings: new Array<Finding>() };
  for (const range of hoursOf(comparison.range)) {
    const { payments, charges, findings } = await comparePayments({ ...comparison, range });
    total.payments += payments;
    total.charges += charges;
    total.findings.push(...findings);
    await comparison.onHourCompared?.();
  }
  total.findings.push(...(await findFailedRefunds(comparison)));
  return total;
}

/** Divides a time range into hours; the last one may be shorter. */
function* hoursOf({ from, to }: TimeRange): Generator<TimeRange> {
  for (let start = from; start < to;) {
    const end = new Date(Math.min(start.getTime() + hourMs, to.getTime()));
    yield { from: start, to: end };
    start = end;
  }
}

async function comparePayments({ database, gateway, range, signal }: Comparison): Promise<Reconciliation> {
  const findings: Finding[] = [];
  const paidAtProvider = new Set<string>();
  let payments = 0;
  for await (const page of gateway.listPayments(range, signal)) {
    // Other software on the account may use the same metadata; our charge ids are UUIDs.
    const ours = page.filter(({ chargeId }) => isUuid(chargeId));
    for (const { chargeId } of ours) paidAtProvider.add(chargeId);
    payments += ours.length;
    findings.push(...(await findUnknownPayments(database, ours)));
  }
  let charges = 0;
  const paidCharges = keysetPages<SettledCharge>(pageSize, (last) =>
    database.rows(readSettledAsPaid, [last?.settledAt ?? range.from, last?.id ?? nilUuid, range.to]),
  );
  for await (const page of paidCharges) {
    charges += page.length;
    // A charge that was settled in this time range may have been paid in an earlier one.
    for (const charge of page.filter(({ id }) => !paidAtProvider.has(id))) {
      if ((await gateway.find(charge, signal)) === undefined)
        findings.push({ kind: 'missing_payment', reference: charge.reference, chargeId: charge.id });
    }
  }
  return { payments, charges, findings };
}

async function findUnknownPayments(
  database: Database,
  payments: readonly ProviderPayment[],
): Promise<Finding[]> {
  const ids = payments.map(({ chargeId }) => chargeId);
  const rows = await database.rows<ChargeWithStatus>(readCharges, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return payments
    .filter((payment) => !payment.refunded && !matchesPayment(byId.get(payment.chargeId), payment))
    .map(({ reference, chargeId }) => ({ kind: 'unknown_payment', reference, chargeId }));
}

/**
 * Whether the payment belongs to the charge. A second payment of the charge does not: its id differs from the
 * one in the charge row. A pending charge matches, since the completer will settle it.
 */
function matchesPayment(charge: ChargeWithStatus | undefined, { reference }: ProviderPayment): boolean {
  if (charge === undefined || charge.status === 'declined') return false;
  return charge.reference === null || reference === null || charge.reference === reference;
}

async function findFailedRefunds({ database, gateway, range, signal }: Comparison): Promise<Finding[]> {
  const findings: Finding[] = [];
  const from = new Date(range.from.getTime() - maxRefundFailureDelayMs);
  for await (const page of gateway.listFailedRefunds({ from, to: range.to }, signal)) {
    if (page.length === 0) continue; // most pages have no failed refund
    const charges = await database.rows<{ id: string; reference: string }>(readRefunded, [page]);
    for (const { id, reference } of charges)
      findings.push({ kind: 'failed_refund', reference, chargeId: id });
  }
  return findings;
}
