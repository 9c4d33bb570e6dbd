import { publicId, webhookEnvelopeShape } from '@fulfilment/contracts';
import { StringDecoder } from 'node:string_decoder';
import { eventPublicId } from '../delivery/event-public-id.js';
import type { AttemptView, DeliveryDetail, DeliveryView } from './delivery.shapes.js';

/** SQL: the columns of a `DeliveryRow`. */
export const deliveryColumns = `d.id, d.subscription_id, d.event_id, d.event, d.api_version, d.status, d.failure_reason, d.test,
  d.attempt_count, d.next_attempt_at, d.last_status_code, d.created_at, d.completed_at`;

/** Like the view, but its ids are UUIDs. */
export interface DeliveryRow extends Omit<DeliveryView, 'next_attempt_at' | 'created_at' | 'completed_at'> {
  readonly next_attempt_at: Date | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

export interface AttemptRow extends Omit<AttemptView, 'started_at' | 'response_body'> {
  readonly started_at: Date;
  readonly response_body: Buffer | null;
}

/** Renders a delivery for its owner. */
export function deliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: publicId('whd', row.id),
    subscription_id: publicId('whk', row.subscription_id),
    event_id: eventPublicId(row.event_id, { test: row.test }),
    event: row.event,
    api_version: row.api_version,
    status: row.status,
    failure_reason: row.failure_reason,
    test: row.test,
    attempt_count: row.attempt_count,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    last_status_code: row.last_status_code,
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

/**
 * Renders a finished attempt. Invalid UTF-8 in the response becomes replacement characters; a truncated
 * character is omitted.
 */
function attemptView(row: AttemptRow): AttemptView {
  const { response_body: bytes, response_truncated: isTruncated } = row;
  const text =
    isTruncated && bytes !== null ? new StringDecoder('utf8').write(bytes) : bytes?.toString('utf8');
  return { ...row, started_at: row.started_at.toISOString(), response_body: text ?? null };
}

/** Renders a delivery with its payload and attempts. */
export function deliveryDetail(
  row: DeliveryRow & { readonly body: Buffer },
  attempts: readonly AttemptRow[],
): DeliveryDetail {
  const payload = webhookEnvelopeShape.parse(JSON.parse(row.body.toString('utf8')));
  return { ...deliveryView(row), payload, attempts: attempts.map(attemptView) };
}
