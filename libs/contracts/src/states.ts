/** Statuses of an order in the Store API. */
export const orderStatuses = [
  'pending',
  'processing',
  'payment_failed',
  'shipped',
  'delivered',
  'cancelled',
] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export const paymentStatuses = ['pending', 'paid', 'failed', 'refunded'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

export const paymentMethods = ['card', 'wallet', 'invoice'] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

/** Progress of the shipment, as shown by the Creator API. */
export const dispatchStatuses = ['pending', 'in_production', 'dispatched', 'delivered', 'cancelled'] as const;
export type DispatchStatus = (typeof dispatchStatuses)[number];

/** Statuses of a release and of a product. */
export const catalogueStatuses = ['available', 'pending', 'unavailable'] as const;
export type CatalogueStatus = (typeof catalogueStatuses)[number];

/** Id of a payment method at the provider; the sandbox has `pm_ok`, `pm_declined` and `pm_timeout`. */
export const paymentMethodIdPattern = /^pm_\w{1,250}$/;
