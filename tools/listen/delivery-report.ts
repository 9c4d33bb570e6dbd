import { isTestEvent } from '@fulfilment/webhook-verifier';
import { printable } from '../dev/output/printable.ts';
import type { ReceivedRequest } from './receiver.ts';

type DeliveryReport = ReturnType<typeof toReport>;

/**
 * Returns a delivery as `--json` prints it. If it is not verified, event, id and data are null: they may be
 * forged.
 */
export function toReport({ at, headers, verification }: ReceivedRequest, responseStatus: number) {
  const event = 'event' in verification ? verification.event : undefined;
  const delivery = headers['x-service-delivery'];
  const attempt = Number(headers['x-service-attempt']);
  return {
    at: at.toISOString(),
    event: event?.event ?? null,
    id: event?.id ?? null,
    delivery: typeof delivery === 'string' ? delivery : null,
    attempt: Number.isSafeInteger(attempt) ? attempt : null,
    verified: event !== undefined,
    /** The reason why the delivery is not verified. */
    refusal: 'error' in verification ? verification.error : null, // words: public member of the report
    test: event !== undefined && isTestEvent(event),
    /** The status of the response. */
    answered: responseStatus,
    data: event?.data ?? null,
  };
}

/** Width of the column of event names. */
const eventNameWidth = 'product.inventory_changed'.length;

/** Formats a line: time (UTC, HH:MM:SS.mmm), event, id, delivery, attempt, verification, response. */
export function formatLine(report: DeliveryReport): string {
  const cells = [
    report.at.slice(11, 23),
    (report.event ?? '-').padEnd(eventNameWidth),
    report.id ?? '-',
    report.delivery ?? '-',
    `attempt ${report.attempt ?? '-'}`,
    report.verified ? 'verified' : `NOT VERIFIED (${report.refusal})`, // words: public member
    `responded ${report.answered}`,
  ];
  return printable(cells.join('  '));
}
