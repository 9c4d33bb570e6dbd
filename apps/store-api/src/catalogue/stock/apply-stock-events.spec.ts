import { uuidv7 } from '@fulfilment/contracts';
import { RejectedMessage } from '@fulfilment/messaging';
import { metrics } from '@fulfilment/runtime';
import { setUpDatabase } from '../../test/scratch.fixture.js';
import { measureOversold } from './measure-oversold.js';
import { type StockOfOneProduct, stockOfOneProduct } from './stock.fixture.js';

describe('stock events of the warehouse', () => {
  const scratch = setUpDatabase();

  const newStock = (quantity: number | null): Promise<StockOfOneProduct> =>
    stockOfOneProduct(scratch.database, quantity);
  const soldOrder = async (product: StockOfOneProduct, pieces: number): Promise<string> => {
    const sale = await product.sell(pieces);
    if (sale === undefined) throw new Error('The product is sold out.');
    return sale.orderId;
  };

  it('add the returns that occurred between a count and its arrival', async () => {
    const product = await newStock(10);
    const before = await soldOrder(product, 3);
    const countedAt = await product.now();
    await product.cancel(await soldOrder(product, 2));
    await product.cancel(before);
    await product.count(7, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 10, oversold: 0 });
  });

  it('show oversold pieces, which returns reduce before the product is sold again', async () => {
    const product = await newStock(10);
    const countedAt = await product.now();
    const order = await soldOrder(product, 5);
    await product.count(3, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 0, oversold: 2 });
    await measureOversold(scratch.database);
    expect(await metrics.getSingleMetricAsString('stock_oversold_pieces')).toMatch(/ 2$/);
    await product.adjust(1, await product.now());
    expect(await product.read()).toMatchObject({ quantity: 0, oversold: 1 });
    expect(await product.sell(1)).toBeUndefined();
    await product.cancel(order);
    expect(await product.read()).toMatchObject({ quantity: 4, oversold: 0 });
    expect(await product.events()).toEqual([
      { type: 'product.inventory_changed', previous: 10, quantity: 5 },
      { type: 'product.inventory_changed', previous: 5, quantity: 0 },
      { type: 'product.out_of_stock', previous: null, quantity: 0 },
      { type: 'product.in_stock', previous: null, quantity: 4 },
      { type: 'product.inventory_changed', previous: 0, quantity: 4 },
    ]);
  });

  it('apply an adjustment once, however often its message arrives', async () => {
    const product = await newStock(10);
    const messageId = uuidv7();
    const occurredAt = await product.now();
    for (let times = 0; times < 3; times += 1) await product.adjust(-4, occurredAt, messageId);
    expect(await product.read()).toMatchObject({ quantity: 6 });
  });

  it('ignore a late adjustment from before the newest count, and keep an early one from after it', async () => {
    const product = await newStock(10);
    const before = await product.now();
    const countedAt = await product.now();
    const after = await product.now();
    await product.adjust(5, after);
    expect(await product.read()).toMatchObject({ quantity: 15 });
    await product.count(20, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 25 });
    await product.adjust(-7, before);
    await product.adjust(-8, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 25 });
  });

  it('treat a count and an adjustment with a future time as if they occurred now', async () => {
    const product = await newStock(10);
    await product.count(5, '2999-01-01T00:00:00Z');
    await product.sell(2);
    await product.adjust(1, '2999-01-01T00:00:00Z');
    expect(await product.read()).toMatchObject({ quantity: 4 });
    await product.count(8, await product.now());
    expect(await product.read()).toMatchObject({ quantity: 8 });
  });

  it('store an adjustment of a product without a count until its first count', async () => {
    const product = await newStock(null);
    const countedAt = await product.now();
    await product.adjust(3, await product.now());
    expect(await product.read()).toEqual({ quantity: null, oversold: 0, limited: false });
    await product.count(5, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 8 });
    expect(await product.events()).toEqual([
      { type: 'product.inventory_changed', previous: null, quantity: 8 },
    ]);
  });

  it('subtract later orders from the first count of a product, and add cancelled ones', async () => {
    const product = await newStock(null);
    await product.sell(50);
    const countedAt = await product.now();
    const kept = await soldOrder(product, 2);
    await product.cancel(await soldOrder(product, 3));
    await product.sell(1);
    await product.count(10, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 7, oversold: 0 });
    await product.cancel(kept);
    expect(await product.read()).toMatchObject({ quantity: 9, oversold: 0 });
  });

  it('take no pieces from the first count for an order that was cancelled while its charge was pending', async () => {
    const product = await newStock(null);
    const countedAt = await product.now();
    const order = await soldOrder(product, 2);
    await product.makeChargePending(order);
    await product.cancel(order);
    await product.count(10, countedAt);
    expect(await product.read()).toMatchObject({ quantity: 10, oversold: 0 });
  });

  it('take no pieces from the first count for an order that is declined while the count waits for it', async () => {
    const product = await newStock(null);
    const countedAt = await product.now();
    const commitDecline = await product.declineUncommitted(await soldOrder(product, 2));
    await Promise.all([product.count(10, countedAt), commitDecline()]);
    expect(await product.read()).toMatchObject({ quantity: 10, oversold: 0 });
  });

  it('subtract every order that is placed while the first count of a product arrives', async () => {
    const product = await newStock(null);
    const countedAt = await product.now();
    let counted = false;
    const sellers = Array.from({ length: 6 }, async () => {
      for (let sold = 0; sold < 5 || !counted; sold += 1) {
        const order = await product.sell(1);
        if (sold % 3 === 0 && order !== undefined) await product.cancel(order.orderId);
      }
    });
    await product.count(1_000, countedAt);
    counted = true;
    await Promise.all(sellers);
    const sinceCount = await product.changesSince(countedAt);
    expect(sinceCount?.untaken).toBe(0);
    expect(await product.read()).toMatchObject({ quantity: 1_000 + (sinceCount?.changes ?? 0), oversold: 0 });
    expect(sinceCount?.changes).toBeLessThan(0);
  });

  it('are rejected with more pieces than the maximum', async () => {
    const product = await newStock(1_000_000_000);
    await product.adjust(1_000_000_000, await product.now());
    const occurredAt = await product.now();
    await expect(product.adjust(1, occurredAt)).rejects.toBeInstanceOf(RejectedMessage);
    expect(await product.read()).toMatchObject({ quantity: 2_000_000_000 });
  });
});
