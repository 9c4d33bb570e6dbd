import { type Currency, type DispatchStatus, type PaymentStatus, publicId } from '@fulfilment/contracts';
import type { OrderDetail, OrderSummary } from './order.shapes.js';

export interface OrderColumns {
  id: string;
  placed_at: Date;
  currency: Currency;
  payment_status: PaymentStatus;
  dispatch_status: DispatchStatus;
  tracking_code: string;
  gross_amount: number;
  royalty_amount: number;
  item_count: number;
  client_id: string | null;
}

export type ItemColumns = Omit<OrderDetail['items'][number], 'status'>;

/** The members that list and detail share. `human_order_id` is the id of the order in the Store API. */
function sharedMembers(order: OrderColumns) {
  return {
    uuid: order.id,
    human_order_id: publicId('ord', order.id),
    placed_at: order.placed_at.toISOString(),
    currency: order.currency,
    payment_status: order.payment_status,
    dispatch_status: order.dispatch_status,
    tracking_code: order.tracking_code,
    app: order.client_id,
  };
}

export function orderSummary(order: OrderColumns): OrderSummary {
  return {
    ...sharedMembers(order),
    totals: { gross: order.gross_amount, royalty: order.royalty_amount },
    items_count: order.item_count,
  };
}

/**
 * An order has one dispatch status, so it is the `status` of each item. The interface has the gross total
 * only in the list.
 */
export function orderDetail(order: OrderColumns, items: readonly ItemColumns[]): OrderDetail {
  return {
    ...sharedMembers(order),
    totals: { royalty: order.royalty_amount },
    items: items.map((item) => ({ ...item, status: order.dispatch_status })),
  };
}
