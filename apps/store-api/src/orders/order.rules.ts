import { type Currency, maxAmount, type OrderStatus, orderStatuses } from '@fulfilment/contracts';
import { type ErrorDetail } from '@fulfilment/error-envelope';

/** Allowed transitions of an order's status. It never returns to an earlier status. */
export const transitions = {
  pending: ['processing', 'payment_failed'],
  processing: ['shipped', 'cancelled'],
  payment_failed: ['processing', 'cancelled'],
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
} as const satisfies Record<OrderStatus, readonly OrderStatus[]>;

export function canTransition(from: OrderStatus, to: OrderStatus): boolean {
  return transitions[from].some((status) => status === to);
}

/** The statuses from which an order may get the given one. */
export function statusesBefore(to: OrderStatus): OrderStatus[] {
  return orderStatuses.filter((from) => canTransition(from, to));
}

export type FulfilmentAction = 'ship' | 'correct the tracking of' | 'deliver' | 'cancel';

/**
 * The statuses in which a fulfilment event applies to an order, and in which it waits for an earlier event.
 * In any other status it is rejected.
 */
export const fulfilmentEvents: Readonly<
  Record<FulfilmentAction, Readonly<Record<'applies' | 'waits', readonly OrderStatus[]>>>
> = {
  ship: { applies: [...statusesBefore('shipped'), 'shipped', 'delivered'], waits: ['pending'] },
  'correct the tracking of': { applies: ['shipped', 'delivered'], waits: ['pending', 'processing'] },
  deliver: { applies: [...statusesBefore('delivered'), 'delivered'], waits: ['pending', 'processing'] },
  cancel: { applies: [...statusesBefore('cancelled'), 'cancelled'], waits: ['pending'] },
};

/** Σ price × quantity + shipping in minor units, or undefined above the largest exact amount. */
export function orderTotal(
  lines: readonly { readonly price: number; readonly quantity: number }[],
  shippingAmount: number,
): number | undefined {
  let total = BigInt(shippingAmount);
  for (const { price, quantity } of lines) total += BigInt(price) * BigInt(quantity);
  return total > BigInt(maxAmount) ? undefined : Number(total);
}

export function countPieces(lines: readonly { readonly quantity: number }[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Returns an error detail for each line in another currency. */
export function currencyMismatchDetails(
  items: readonly { readonly unit_price: { readonly currency: Currency } }[],
  currency: Currency,
): ErrorDetail[] {
  return items.flatMap(({ unit_price: price }, index) =>
    price.currency === currency
      ? []
      : [
          {
            field: `items.${index}.unit_price.currency`,
            reason: `must be ${currency}, the currency of the shipping rate`,
          },
        ],
  );
}
