import type { CursorPage } from '@fulfilment/contracts';
import { Database, listTimeoutMs, ReadDatabase, statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { ListDeliveriesDto } from './delivery.dto.js';
import { attemptsWithFullResponse, olderBodyBytes, maxAttempts } from './history.rules.js';
import type { DeliveryDetail, DeliveryView } from './delivery.shapes.js';
import {
  type AttemptRow,
  deliveryColumns,
  deliveryDetail,
  type DeliveryRow,
  deliveryView,
} from './delivery.view.js';
import { deliveryUuid, findOwned } from './owned-subscription.js';
import { pageQuery } from './delivery-page.js';

const findDelivery = statement(
  'history.find-delivery',
  `SELECT ${deliveryColumns}, d.day, e.body
   FROM webhook_deliveries d
   JOIN webhook_events e ON e.day = d.day AND e.id = d.event_id AND e.api_version = d.api_version
   WHERE d.id = $1 AND d.subscription_id = $2`,
);
const listAttempts = statement(
  'history.attempts',
  `SELECT number, trigger, started_at, duration_ms, outcome, status_code, response_headers,
     CASE WHEN in_full THEN response_body ELSE substring(response_body FROM 1 FOR ${olderBodyBytes}) END AS response_body,
     response_truncated OR (NOT in_full AND coalesce(octet_length(response_body), 0) > ${olderBodyBytes}) AS response_truncated
   FROM (SELECT *, row_number() OVER (ORDER BY number DESC) <= ${attemptsWithFullResponse} AS in_full
         FROM webhook_attempts WHERE day = $1 AND delivery_id = $2 ORDER BY number DESC LIMIT ${maxAttempts}) AS newest
   ORDER BY number`,
);

/** Reads the deliveries of a subscription, which are kept for 30 days. */
@Injectable()
export class ReadDeliveries {
  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
    private readonly cursors: SignedCursors,
  ) {}

  /**
   * Returns a page of the deliveries of a subscription, newest first.
   * @throws NotFound; ValidationFailed on a cursor of another list; DependencyUnavailable on timeout
   */
  async list(caller: Caller, webhookId: string, query: ListDeliveriesDto): Promise<CursorPage<DeliveryView>> {
    const { id } = await findOwned(this.database, caller, webhookId);
    const { status, event, event_id, order_id, product_id, created_after, created_before, test } = query;
    const filters = [status, event, created_after, created_before, test, event_id, order_id, product_id];
    const boundTo = ['deliveries', id, ...filters];
    const after = query.cursor === undefined ? undefined : this.cursors.open(boundTo, query.cursor);
    const { statement: list, values } = pageQuery(id, query, query.limit + 1, after);
    const rows = await this.reads.read((database) =>
      database.rowsWithTimeout<DeliveryRow & { created_micros: number }>(listTimeoutMs, list, values),
    );
    const { page, pagination } = this.cursors.page(rows, query.limit, boundTo, (row) => ({
      micros: row.created_micros,
      id: row.id,
    }));
    return { data: page.map(deliveryView), pagination };
  }

  /** Returns a delivery with its payload and its newest attempts. @throws NotFound */
  async findOne(caller: Caller, webhookId: string, deliveryId: string): Promise<DeliveryDetail> {
    const { id } = await findOwned(this.database, caller, webhookId);
    const uuid = deliveryUuid(deliveryId);
    return this.reads.read(async (database) => {
      const row = await database.row<DeliveryRow & { day: string; body: Buffer }>(findDelivery, [uuid, id]);
      if (row === undefined) return throwNotFound('webhook delivery');
      return deliveryDetail(row, await database.rows<AttemptRow>(listAttempts, [row.day, row.id]));
    });
  }
}
