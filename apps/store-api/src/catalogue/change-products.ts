import { type Message, messages, parsePublicId } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Outbox, RefusedMessage } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { type ProductRow, productColumns, productSnapshot } from './product-row.js';
import { Stock } from './stock.js';
import { nextUpdateTime } from '../next-update-time.js';

const lockProduct = statement(
  'product.lock',
  `SELECT ${productColumns} FROM products WHERE id = $1 FOR UPDATE`,
);
const setStock = statement(
  'product.set-stock',
  `UPDATE products SET limited_edition = true, quantity = $2, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 RETURNING ${productColumns}`,
);
const setStatus = statement(
  'product.set-status',
  `UPDATE products SET status = $2, version = version + 1, updated_at = ${nextUpdateTime}
   WHERE id = $1 AND status <> $2 AND ($2 <> 'available' OR price_gbp IS NOT NULL)
   RETURNING ${productColumns}`,
);

/** What the plant reports about a product: its stock, that it may be sold, that it may not. Said twice, it happens once. */
@Injectable()
export class ChangeProducts {
  constructor(
    private readonly stock: Stock,
    private readonly outbox: Outbox,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Makes the product a limited edition if it is none. @throws RefusedMessage */
  async setStock(tx: Transaction, sku: string, quantity: number): Promise<void> {
    const before = await this.lock(tx, sku);
    if (before.limited_edition && before.quantity === quantity) return;
    const after = await tx.row<ProductRow>(setStock, [before.id, quantity]);
    if (after === undefined) return;
    // A product that had no count was never sold out: nothing came back into stock.
    const previous = before.quantity ?? quantity;
    await this.stock.tell(tx, [{ product: productSnapshot(after), previous }]);
  }

  /** @throws RefusedMessage */
  async release(tx: Transaction, sku: string): Promise<void> {
    const before = await this.lock(tx, sku);
    const after = await tx.row<ProductRow>(setStatus, [before.id, 'available']);
    if (after !== undefined) {
      await this.tell(
        tx,
        messages.productAvailable.make({ product: productSnapshot(after) }, { occurredAt: this.clock() }),
      );
    } else if (before.status !== 'available') {
      throw new RefusedMessage(`${sku} has no prices yet`);
    }
  }

  /** @throws RefusedMessage */
  async withdraw(tx: Transaction, sku: string): Promise<void> {
    const before = await this.lock(tx, sku);
    const after = await tx.row<ProductRow>(setStatus, [before.id, 'unavailable']);
    if (after === undefined) return;
    await this.tell(
      tx,
      messages.productUnavailable.make({ product: productSnapshot(after) }, { occurredAt: this.clock() }),
    );
  }

  private async lock(tx: Transaction, sku: string): Promise<ProductRow> {
    const id = parsePublicId('prod', sku);
    const product = id === undefined ? undefined : await tx.row<ProductRow>(lockProduct, [id]);
    if (product === undefined) throw new RefusedMessage(`there is no product ${sku.slice(0, 40)}`);
    return product;
  }

  private tell(tx: Transaction, message: Message): Promise<void> {
    return this.outbox.add(tx, message);
  }
}
