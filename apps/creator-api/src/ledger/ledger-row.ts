import type { Currency } from '@fulfilment/contracts';

/** A posting, for statements and ledger lines. Amounts are text, since they may exceed 2^53. */
export interface LedgerRow {
  readonly kind: 'sale' | 'refund';
  readonly order_id: string;
  readonly item_id: string;
  readonly occurred_at: Date;
  /** `occurred_at` in microseconds, for the cursor of the next page. */
  readonly micros: number;
  readonly release_id: string;
  readonly ean: string;
  readonly units: number;
  readonly currency: Currency;
  readonly revenue: string;
  readonly vat: string;
  readonly royalty: string;
  readonly settled_revenue: string;
  readonly settled_vat: string;
  readonly settled_royalty: string;
}
