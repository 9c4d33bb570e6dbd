import { publicId } from '@fulfilment/contracts';
import type { SubscriptionView } from './subscription.shapes.js';

/** Columns that the owner may see, without the secret. */
export const subscriptionColumns =
  'id, events, url, status, consecutive_failures, last_delivery_at, last_failure_at, disabled_at, max_in_flight, ' +
  "CASE WHEN signing_key IS NULL THEN 'v1' ELSE 'v1a' END AS signature";

/** The view without the backlog, as PostgreSQL returns it: its id is a UUID. */
export interface SubscriptionRow extends Omit<
  SubscriptionView,
  'last_delivery_at' | 'last_failure_at' | 'disabled_at' | keyof SubscriptionBacklog
> {
  readonly last_delivery_at: Date | null;
  readonly last_failure_at: Date | null;
  readonly disabled_at: Date | null;
}

/** The deliveries of a subscription that are due and wait to be sent. */
export interface SubscriptionBacklog {
  /** Number of due deliveries, `maxCountedDue` at most. */
  readonly due_deliveries: number;
  readonly oldest_due_at: Date | null;
}

export const noBacklog: SubscriptionBacklog = { due_deliveries: 0, oldest_due_at: null };

/** @param backlog not shown in lists */
export function subscriptionView(row: SubscriptionRow, backlog?: SubscriptionBacklog): SubscriptionView {
  return {
    ...row,
    id: publicId('whk', row.id),
    last_delivery_at: row.last_delivery_at?.toISOString() ?? null,
    last_failure_at: row.last_failure_at?.toISOString() ?? null,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    ...(backlog !== undefined && {
      due_deliveries: backlog.due_deliveries,
      oldest_due_at: backlog.oldest_due_at?.toISOString() ?? null,
    }),
  };
}
