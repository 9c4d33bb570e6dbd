import type { CursorPage } from '@fulfilment/contracts';
import { Database, statement } from '@fulfilment/database';
import { notFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ListDeliveriesDto } from './delivery.dto.js';
import { attemptsInFull, bodyBytesOfOlder, mostAttempts } from './history.rules.js';
import type { DeliveryDetail, DeliveryView } from './delivery.shapes.js';
import {
  type AttemptRow,
  deliveryColumns,
  deliveryDetail,
  type DeliveryRow,
  deliveryView,
} from './delivery.view.js';
import { deliveryUuid, findOwned } from './owned-subscription.js';

const list = statement(
  'history.list',
  `SELECT ${deliveryColumns}, (extract(epoch FROM d.created_at) * 1000000)::bigint AS created_micros
   FROM webhook_deliveries d
   WHERE d.subscription_id = $1
     AND ($3::text IS NULL OR d.status = $3) AND ($4::text IS NULL OR d.event = $4)
     AND d.created_at > coalesce($5::timestamptz, '-infinity') AND d.created_at < coalesce($6::timestamptz, 'infinity')
     AND ($7::boolean IS NULL OR d.test = $7)
     AND (d.created_at, d.id) < (coalesce('epoch'::timestamptz + $8::bigint * interval '1 microsecond', 'infinity'),
                                 coalesce($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
   ORDER BY d.created_at DESC, d.id DESC LIMIT $2`,
);
const one = statement(
  'history.one',
  `SELECT ${deliveryColumns}, d.day, e.body
   FROM webhook_deliveries d
   JOIN webhook_events e ON e.day = d.day AND e.id = d.event_id AND e.api_version = d.api_version
   WHERE d.id = $1 AND d.subscription_id = $2`,
);
const attemptsOf = statement(
  'history.attempts',
  `SELECT number, trigger, started_at, duration_ms, outcome, status_code, response_headers,
     CASE WHEN in_full THEN response_body ELSE substring(response_body FROM 1 FOR ${bodyBytesOfOlder}) END AS response_body,
     response_truncated OR (NOT in_full AND coalesce(octet_length(response_body), 0) > ${bodyBytesOfOlder}) AS response_truncated
   FROM (SELECT *, row_number() OVER (ORDER BY number DESC) <= ${attemptsInFull} AS in_full
         FROM webhook_attempts WHERE day = $1 AND delivery_id = $2 ORDER BY number DESC LIMIT ${mostAttempts}) AS newest
   ORDER BY number`,
);

/** What became of a subscription's events, for 30 days. */
@Injectable()
export class ReadDeliveries {
  constructor(
    private readonly database: Database,
    private readonly cursors: SignedCursors,
  ) {}

  /** Newest first. @throws NotFound, ValidationFailed on a cursor of another list */
  async list(caller: Caller, webhookId: string, query: ListDeliveriesDto): Promise<CursorPage<DeliveryView>> {
    const { id } = await findOwned(this.database, caller, webhookId);
    const { status, event, created_after, created_before, test } = query;
    const boundTo = ['deliveries', id, status, event, created_after, created_before, test];
    const after = query.cursor === undefined ? undefined : this.cursors.open(boundTo, query.cursor);
    const rows = await this.database.rows<DeliveryRow & { created_micros: number }>(list, [
      id,
      query.limit + 1,
      ...[status, event, created_after, created_before, test, after?.micros, after?.id],
    ]);
    const page = rows.slice(0, query.limit);
    const last = page.at(-1);
    const more = rows.length > query.limit && last !== undefined;
    const next = more ? this.cursors.seal(boundTo, { micros: last.created_micros, id: last.id }) : null;
    return { data: page.map(deliveryView), pagination: { next_cursor: next, has_more: more } };
  }

  /** With what was sent and the newest attempts. @throws NotFound */
  async one(caller: Caller, webhookId: string, deliveryId: string): Promise<DeliveryDetail> {
    const { id } = await findOwned(this.database, caller, webhookId);
    const row = await this.database.row<DeliveryRow & { day: string; body: Buffer }>(one, [
      deliveryUuid(deliveryId),
      id,
    ]);
    if (row === undefined) return notFound('webhook delivery');
    return deliveryDetail(row, await this.database.rows<AttemptRow>(attemptsOf, [row.day, row.id]));
  }
}
