import type { DispatchStatus, OrderSnapshot, OrderStatus, PaymentStatus } from '@fulfilment/contracts';
import { lineFigures } from './line-figures.rules.js';
import { standardVatRate } from './vat-rates.rules.js';

/** The dispatch status for each status of an order in the Store. */
const dispatchStatusByOrderStatus = {
  pending: 'pending',
  payment_failed: 'pending',
  processing: 'in_production',
  shipped: 'dispatched',
  delivered: 'delivered',
  cancelled: 'cancelled',
} as const satisfies Record<OrderStatus, DispatchStatus>;

/** A row of the read model. Sums are text, since they may exceed the safe integers of JSON. */
export interface OrderRow {
  readonly id: string;
  readonly creator_id: string;
  /** The app that placed the order; null if its messages do not name it. */
  readonly client_id: string | null;
  readonly version: number;
  readonly placed_at: string;
  readonly currency: string;
  readonly payment_status: PaymentStatus;
  readonly dispatch_status: DispatchStatus;
  readonly tracking_code: string;
  readonly gross_amount: string;
  readonly royalty_amount: string;
  readonly item_count: number;
  readonly country_code: string;
  /** The platform that the order names as its source. */
  readonly platform: string;
  readonly charged_at: string | null;
  readonly refunded_at: string | null;
  readonly items: readonly OrderItemRow[];
}

interface OrderItemRow {
  readonly order_id: string;
  readonly position: number;
  readonly id: string;
  readonly creator_id: string;
  readonly release_id: string;
  readonly release_title: string;
  readonly product_type: string;
  readonly ean: string;
  readonly quantity: number;
  readonly unit_amount: number;
  readonly total_amount: string;
  readonly vat_amount: string;
  readonly royalty_amount: string;
  readonly royalty_rate: number;
}

/** Converts a snapshot to a row of the read model. Its amounts are the sums of its lines. */
export function orderRow(order: OrderSnapshot): OrderRow {
  const vatRate = standardVatRate(order.country_code);
  const lines = order.items.map((item) => ({
    item,
    figures: lineFigures({
      quantity: item.quantity,
      unitAmount: item.unit_amount,
      royaltyRate: item.royalty_rate,
      vatRate,
    }),
  }));
  return {
    id: order.id,
    creator_id: order.creator_id,
    client_id: order.client_id ?? null,
    version: order.version,
    placed_at: order.placed_at,
    currency: order.currency,
    payment_status: order.payment.status,
    dispatch_status: dispatchStatusByOrderStatus[order.status],
    tracking_code: order.tracking?.tracking_number ?? '',
    gross_amount: sum(lines.map(({ figures }) => figures.totalAmount)),
    royalty_amount: sum(lines.map(({ figures }) => figures.royaltyAmount)),
    item_count: order.item_count,
    country_code: order.country_code,
    platform: order.source.platform,
    ...paymentDates(order.payment),
    items: lines.map(({ item, figures }, position) => ({
      order_id: order.id,
      position,
      id: item.id,
      creator_id: order.creator_id,
      release_id: item.release_id,
      release_title: item.release_title,
      product_type: item.product_type,
      ean: item.ean ?? '',
      quantity: item.quantity,
      unit_amount: item.unit_amount,
      total_amount: String(figures.totalAmount),
      vat_amount: String(figures.vatAmount),
      royalty_amount: String(figures.royaltyAmount),
      royalty_rate: item.royalty_rate,
    })),
  };
}

/** Returns when the order was paid and refunded; null for what its payment status does not confirm. */
function paymentDates({ status, charged_at, refunded_at }: OrderSnapshot['payment']): {
  charged_at: string | null;
  refunded_at: string | null;
} {
  const wasPaid = status === 'paid' || status === 'refunded';
  if (!wasPaid || charged_at === null) return { charged_at: null, refunded_at: null };
  return { charged_at, refunded_at: status === 'refunded' ? refunded_at : null };
}

function sum(amounts: readonly bigint[]): string {
  return String(amounts.reduce((total, amount) => total + amount, 0n));
}
