import { maxUuid, publicId } from '@fulfilment/contracts';
import { keysetPages, statement, type Transaction } from '@fulfilment/database';
import type { Caller } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { selectCreator } from '../../visibility/select-creator.js';
import { Visibility } from '../../visibility/visibility.js';
import { dayRange } from '../day-range.rules.js';
import { itemColumns } from '../order-columns.sql.js';
import type { ItemColumns, OrderColumns } from '../order.view.js';
import type { OrdersFilter } from '../orders.dto.js';
import { csvLine } from '../../text-output/csv.rules.js';
import { textStream, type WriteText } from '../../text-output/text-stream.js';

const ordersPerPage = 200;
const maxDurationMs = 10 * 60_000;

// `:micros` and `:id` are the time in microseconds and the id of the last order of the previous page; null
// for the first page. LEAST ignores nulls. COALESCE is not leakproof: with row-level security, PostgreSQL
// would not use it to search the index, and each page would read all earlier ones.
export const readPage = statement(
  'export.page',
  `SELECT id, placed_at, (extract(epoch FROM placed_at) * 1000000)::bigint AS micros, currency, payment_status, dispatch_status,
     tracking_code, COALESCE(country_code, '') AS country_code, COALESCE(platform, '') AS platform,
     COALESCE(client_id, '') AS client_id
   FROM orders WHERE creator_id = :creator AND (:app::text IS NULL OR client_id = :app)
     AND (:status::text IS NULL OR payment_status = :status OR dispatch_status = :status)
     AND placed_at >= :from::date::timestamp AT TIME ZONE 'UTC' AND placed_at < (:to::date + 1)::timestamp AT TIME ZONE 'UTC'
     AND (placed_at, id) < (LEAST('epoch'::timestamptz + :micros::bigint * interval '1 microsecond', 'infinity'),
                            LEAST(:id::uuid, '${maxUuid}'))
   ORDER BY placed_at DESC, id DESC LIMIT ${ordersPerPage}`,
);
const readItems = statement(
  'export.items',
  `SELECT order_id, ${itemColumns} FROM order_items WHERE order_id = ANY($1::uuid[]) ORDER BY order_id, position`,
);

interface ExportedOrder extends Pick<
  OrderColumns,
  'id' | 'placed_at' | 'currency' | 'payment_status' | 'dispatch_status' | 'tracking_code'
> {
  readonly micros: number;
  readonly country_code: string;
  readonly platform: string;
  readonly client_id: string;
}
interface ExportedItem extends ItemColumns {
  readonly order_id: string;
}

/** The columns of the file, in order. */
const columns: Readonly<Record<string, (order: ExportedOrder, item: ExportedItem) => string | number>> = {
  order: (order) => order.id,
  human_order_id: (order) => publicId('ord', order.id),
  placed_at: (order) => order.placed_at.toISOString(),
  currency: (order) => order.currency,
  payment_status: (order) => order.payment_status,
  dispatch_status: (order) => order.dispatch_status,
  tracking_code: (order) => order.tracking_code,
  country: (order) => order.country_code,
  platform: (order) => order.platform,
  item: (_order, item) => item.uuid,
  release_group: (_order, item) => item.release_group,
  release_title: (_order, item) => item.release_title,
  ean: (_order, item) => item.ean,
  product_type: (_order, item) => item.product_type,
  quantity: (_order, item) => item.quantity,
  unit_amount: (_order, item) => item.unit_amount,
  total_amount: (_order, item) => item.total_amount,
  vat_amount: (_order, item) => item.vat_amount,
  royalty_rate: (_order, item) => item.royalty_rate,
  royalty_amount: (_order, item) => item.royalty_amount,
  app: (order) => order.client_id,
};
export const exportColumns = Object.keys(columns);

/** Writes a creator's orders as CSV, a line for each order line, from one snapshot. */
@Injectable()
export class ExportOrders {
  constructor(private readonly visibility: Visibility) {}

  /**
   * The stream holds a connection until it has been read. It ends with an error when it is not read for half
   * a minute (`idle_in_transaction_session_timeout`), or has not been read to its end after ten minutes.
   * @throws NotFound when the creator is not visible to the caller; ValidationFailed on an empty range
   */
  run(caller: Caller, { creator, status, app, ...range }: OrdersFilter): Promise<Readable> {
    const filters = { creator, status, app, ...dayRange(range) };
    return textStream(
      (write) =>
        this.visibility.snapshot(caller, async (tx) => {
          await selectCreator(tx, creator);
          await write(csvLine(exportColumns));
          await writePages(tx, filters, write);
        }),
      maxDurationMs,
    );
  }
}

async function writePages(tx: Transaction, filters: OrdersFilter, write: WriteText): Promise<void> {
  const pages = keysetPages<ExportedOrder>(ordersPerPage, (last) =>
    tx.rows(readPage, { ...filters, micros: last?.micros, id: last?.id }),
  );
  for await (const orders of pages) {
    const items = await tx.rows<ExportedItem>(readItems, [orders.map(({ id }) => id)]);
    const itemsByOrder = Map.groupBy(items, ({ order_id }) => order_id);
    const lines = orders.flatMap((order) =>
      (itemsByOrder.get(order.id) ?? []).map((item) => formatLine(order, item)),
    );
    await write(lines.join(''));
  }
}

function formatLine(order: ExportedOrder, item: ExportedItem): string {
  return csvLine(Object.values(columns).map((cell) => cell(order, item)));
}
