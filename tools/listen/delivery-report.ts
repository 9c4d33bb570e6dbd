import { isTestEvent } from '@fulfilment/webhook-verifier';
import type { Arrival } from './receiver.ts';

/**
 * A delivery as `--json` prints it. If it is not verified, event, id and data are null: they may be forged.
 */
export interface DeliveryReport {
  readonly at: string;
  readonly event: string | null;
  readonly id: string | null;
  readonly delivery: string | null;
  readonly attempt: number | null;
  readonly verified: boolean;
  /** The reason why the delivery is not verified. */
  readonly refusal: string | null; // words: public member of the report
  readonly test: boolean;
  /** The status of the response. */
  readonly answered: number;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export function toReport({ at, headers, verification }: Arrival, responseStatus: number): DeliveryReport {
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
    refusal: 'error' in verification ? verification.error : null, // words: public member of the report
    test: event !== undefined && isTestEvent(event),
    answered: responseStatus,
    data: event?.data ?? null,
  };
}

/** Width of the column of event names. */
const eventNameWidth = 'product.inventory_changed'.length;

/** Formats a line: time (UTC, HH:MM:SS.mmm), event, id, delivery, attempt, verification, response. */
export function formatLine(report: DeliveryReport): string {
  return (
    [
      report.at.slice(11, 23),
      (report.event ?? '-').padEnd(eventNameWidth),
      report.id ?? '-',
      report.delivery ?? '-',
      `attempt ${report.attempt ?? '-'}`,
      report.verified ? 'verified' : `NOT VERIFIED (${report.refusal})`, // words: public member
      `responded ${report.answered}`,
    ]
      // Untrusted headers must not affect the terminal.
      .map((cell) => cell.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD'))
      .join('  ')
  );
}
