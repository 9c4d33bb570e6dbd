import type { Currency } from '@fulfilment/contracts';

/**
 * A row of the ledger, as CSV statements and the ledger endpoint read it. Amounts are text, since they may
 * exceed 2^53.
 */
export interface LedgerRow {
  readonly kind: 'sale' | 'refund';
  readonly order_id: string;
  readonly item_id: string;
  readonly occurred_at: Date;
  /** `occurred_at` in microseconds, for the cursor of the next page. */
  readonly occurred_at_micros: number;
  readonly release_id: string;
  readonly ean: string;
  readonly units: number;
  /** Currency of the order, and of `revenue`, `vat` and `royalty`. */
  readonly currency: Currency;
  readonly revenue: string;
  readonly vat: string;
  readonly royalty: string;
  /** Currency of the `settled_` amounts. */
  readonly settlement_currency: Currency;
  readonly settled_revenue: string;
  readonly settled_vat: string;
  readonly settled_royalty: string;
}
