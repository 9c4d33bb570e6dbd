import { Database, BatchLoader, type Sql, statement } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';

interface BillingRow {
  readonly id: string;
  readonly payment_method: string | null;
  readonly payment_terms_accepted: boolean;
}

const readBilling = statement(
  'orders.billing',
  'SELECT id, payment_method, payment_terms_accepted FROM creators WHERE id = ANY($1::uuid[])',
);

/** The payment methods of creators. Concurrent reads share a round trip. */
@Injectable()
export class PaymentMethods {
  private readonly billing: BatchLoader<string, BillingRow>;

  constructor(private readonly database: Database) {
    this.billing = new BatchLoader({ run: (creatorIds) => this.loadBatch(creatorIds), maxConcurrent: 2 });
  }

  /** @throws Unprocessable while the creator cannot be charged; NotFound for an unknown creator */
  async forCreator(creatorId: string): Promise<string> {
    return requirePaymentMethod(await this.billing.load(creatorId));
  }

  private async loadBatch(creatorIds: readonly string[]): Promise<{ index: number; row: BillingRow }[]> {
    const rows = await this.database.rows<BillingRow>(readBilling, [[...new Set(creatorIds)]]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return creatorIds.flatMap((id, index) => {
      const row = byId.get(id);
      return row === undefined ? [] : [{ index, row }];
    });
  }
}

/** Reads the payment method inside a transaction. @throws as `forCreator` */
export async function paymentMethodOf(sql: Sql, creatorId: string): Promise<string> {
  return requirePaymentMethod(await sql.row<BillingRow>(readBilling, [[creatorId]]));
}

function requirePaymentMethod(billing: BillingRow | undefined): string {
  if (billing === undefined) return throwNotFound('connected creator');
  if (billing.payment_method === null) {
    throw new Unprocessable('The creator has no payment method.', [
      { field: 'billing', reason: 'payment_method_missing' },
    ]);
  }
  if (!billing.payment_terms_accepted) {
    throw new Unprocessable('The creator has not accepted the payment terms.', [
      { field: 'billing', reason: 'payment_terms_not_accepted' },
    ]);
  }
  return billing.payment_method;
}
