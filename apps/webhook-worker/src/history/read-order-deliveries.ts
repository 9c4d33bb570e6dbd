import { audiences, type CursorPage, maxUuid, parsePublicId } from '@fulfilment/contracts';
import { listTimeoutMs, ReadDatabase, statement } from '@fulfilment/database';
import { type Caller, SignedCursors } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { deliveryIdSql } from '../delivery/delivery-id.js';
import { ownerOf } from '../subscriptions/owner.js';
import type { ListOrderDeliveriesDto } from './delivery.dto.js';
import type { OrderDeliveryView } from './delivery.shapes.js';
import { deliveryColumns, type DeliveryRow, deliveryView } from './delivery.view.js';

// Finds the events first, since an order has few, and computes the ids of their deliveries. Without LIMIT 1,
// PostgreSQL may join with all deliveries of all days. A client_id that is null stands for all clients.
export const pageOfOrder = statement(
  'history.page-of-order',
  `SELECT ${deliveryColumns}, s.client_id, (extract(epoch FROM d.created_at) * 1000000)::bigint AS created_micros
   FROM webhook_events e
   JOIN webhook_subscriptions s ON s.creator_id = e.creator_id AND s.api_version = e.api_version AND s.deleted_at IS NULL
   CROSS JOIN LATERAL (
     SELECT * FROM webhook_deliveries WHERE day = e.day AND id = ${deliveryIdSql('e.id', 's.id')} LIMIT 1
   ) AS d
   WHERE e.subject_id = :order_id AND e.creator_id = :creator_id AND s.client_id = coalesce(:client_id, s.client_id)
     AND (d.created_at, d.id) < (coalesce('epoch'::timestamptz + :after_micros::bigint * interval '1 microsecond', 'infinity'),
                                 coalesce(:after_id::uuid, '${maxUuid}'))
   ORDER BY d.created_at DESC, d.id DESC LIMIT :limit`,
);

interface OrderDeliveryRow extends DeliveryRow {
  readonly client_id: string;
  readonly created_micros: number;
}

/** Reads the deliveries about an order to all subscriptions that the caller may see. */
@Injectable()
export class ReadOrderDeliveries {
  private readonly creatorAudience: string;

  constructor(
    private readonly reads: ReadDatabase,
    private readonly cursors: SignedCursors,
    @Inject(CONFIG) { BASE_URL }: WebhookWorkerSettings,
  ) {
    this.creatorAudience = audiences(BASE_URL).creator;
  }

  /**
   * Returns a page of the deliveries, newest first. A first-party app sees the deliveries to all apps of the
   * creator. Only the tokens of first-party apps are also for the Creator API.
   * @throws ValidationFailed on a cursor of another list; DependencyUnavailable on timeout
   */
  async run(caller: Caller, query: ListOrderDeliveriesDto): Promise<CursorPage<OrderDeliveryView>> {
    const owner = ownerOf(caller);
    const boundTo = ['order-deliveries', owner?.creatorId, owner?.clientId, query.order_id];
    const after = query.cursor === undefined ? undefined : this.cursors.open(boundTo, query.cursor);
    const seesAllClients = caller.audiences.includes(this.creatorAudience);
    const rows =
      owner === undefined
        ? []
        : await this.reads.read((database) =>
            database.rowsWithTimeout<OrderDeliveryRow>(listTimeoutMs, pageOfOrder, {
              order_id: parsePublicId('ord', query.order_id),
              creator_id: owner.creatorId,
              client_id: seesAllClients ? undefined : owner.clientId,
              after_micros: after?.micros,
              after_id: after?.id,
              limit: query.limit + 1,
            }),
          );
    const { page, pagination } = this.cursors.page(rows, query.limit, boundTo, (row) => ({
      micros: row.created_micros,
      id: row.id,
    }));
    return { data: page.map((row) => ({ ...deliveryView(row), client_id: row.client_id })), pagination };
  }
}
