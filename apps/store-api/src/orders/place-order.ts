import { messages, parsePublicId, publicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, together, type Transaction } from '@fulfilment/database';
import { notFound, Unprocessable, ValidationFailed } from '@fulfilment/error-envelope';
import { Answer, type Caller } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { refuseUnsellable, type SellableLine, sellableProducts } from '../catalogue/sellable-products.js';
import { Stock } from '../catalogue/stock.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { fingerprint } from '../idempotency/fingerprint.rules.js';
import { IdempotencyKeys, type KeyScope, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import { HonourRate } from '../shipping/honour-rate.js';
import { requirementsOf } from './address-requirements.js';
import { missingAddressParts } from './address.rules.js';
import { ChargeOrder } from './charge-order.js';
import { FaultPoints } from './fault-points.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';
import { type ItemRow, orderColumns, type OrderRow, orderSnapshot } from './order-row.js';
import { paymentMethodOf } from './payment-method-of.js';
import { foreignCurrencies, orderTotal, pieces } from './order.rules.js';
import type { OrderItemDto, PlaceOrderDto } from './place-order.dto.js';
import { SettleOrder } from './settle-order.js';

/** Beside the provider's time, what a request may take from the order row to its answer. */
const settleWithinMs = 2_000;

const insertOrder = statement(
  'orders.insert',
  `WITH placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount, item_count,
                         rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount, resume_at)
     VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'card', 'pending', $14,
             now() + $15::int * interval '1 millisecond')
     RETURNING ${orderColumns}
   ), items AS (
     INSERT INTO order_items (order_id, position, id, product_id, release_id, title, release_title, product_type, ean, quantity,
                              unit_amount, royalty_rate)
     SELECT $1, position, id, product_id, release_id, title, release_title, product_type, ean, quantity, unit_amount, royalty_rate
     FROM json_to_recordset($16::json) AS item (position int, id uuid, product_id uuid, release_id uuid, title text, release_title text,
                                                product_type text, ean text, quantity int, unit_amount bigint, royalty_rate int)
   ), charge AS (
     INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status)
     VALUES ($17, $1, 1, $14, $7, $18, 'pending')
   )
   SELECT * FROM placed`,
);
const openCharge = statement(
  'orders.open-charge',
  `SELECT ${openChargeColumns('c')} FROM charges c WHERE order_id = $1 AND status = 'pending'`,
);

/**
 * Places an order in atomic phases: (0) claim the key; (1) one transaction: price, take stock, write the order, its charge and
 * `order.created`; (2) charge, with no transaction open; (3) settle. A death between two phases is completed by ResumeOrders.
 */
@Injectable()
export class PlaceOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly honourRate: HonourRate,
    private readonly stock: Stock,
    private readonly chargeOrder: ChargeOrder,
    private readonly settleOrder: SettleOrder,
    private readonly outbox: Outbox,
    private readonly faultPoints: FaultPoints,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: StoreApiSettings,
  ) {}

  async run(who: Caller, order: PlaceOrderDto, key?: string): Promise<Answer<RememberedResponse>> {
    const { shipping_address: address } = order;
    const missing = missingAddressParts(address, requirementsOf(address.country_code));
    if (missing.length > 0) throw new ValidationFailed(missing);
    const creatorId = who.creatorId ?? notFound('connected creator');
    if (key === undefined) return this.answer(await this.place(who, creatorId, order, uuidv7()));

    const scope = { creatorId, clientId: who.clientId, key };
    const orderId = uuidv7();
    const claim = await this.keys.claim(scope, fingerprint(order), orderId);
    if (claim.state === 'remembered') return this.answer(claim.response, { 'Idempotent-Replayed': 'true' });
    if (claim.state === 'resumed')
      return this.answer(await this.resume(claim.orderId), { 'Idempotent-Replayed': 'true' });
    this.faultPoints.pass('key-claimed');
    try {
      return this.answer(await this.place(who, creatorId, order, orderId, scope));
    } catch (error) {
      await this.keys.release(scope, orderId); // only an outcome with an order is remembered
      throw error;
    }
  }

  private async place(
    who: Caller,
    creatorId: string,
    order: PlaceOrderDto,
    orderId: string,
    scope?: KeyScope,
  ): Promise<RememberedResponse> {
    const charge = await this.database.transaction(
      (tx) => this.write(tx, who, creatorId, order, orderId, scope),
      { certain: true }, // the caller hears of an order exactly when there is one
    );
    this.faultPoints.pass('order-placed');
    return this.chargeOrder.run(charge);
  }

  private async write(
    tx: Transaction,
    who: Caller,
    creatorId: string,
    order: PlaceOrderDto,
    orderId: string,
    scope: KeyScope | undefined,
  ): Promise<OpenCharge> {
    const rateId = parsePublicId('rate', order.shipping_rate_id) ?? notFound('shipping rate');
    // Prices in the currency of the first line: with a quote in another the order is refused below.
    const currency = order.items[0]?.unit_price.currency ?? 'GBP';
    const [quote, paymentMethod, products] = await together([
      this.honourRate.find(tx, creatorId, rateId),
      paymentMethodOf(tx, creatorId),
      sellableProducts(tx, creatorId, order.items, currency),
    ]);
    this.honourRate.refuseStale(quote, order.shipping_address.country_code);
    const foreign = foreignCurrencies(order.items, quote.currency);
    if (foreign.length > 0) throw new Unprocessable('An order has one currency.', foreign);
    const lines = refuseUnsellable(order.items, products, { fromStock: true });
    const shippingAmount = await this.honourRate.price(tx, quote, lines);
    const total = orderTotal(
      lines.map(({ unit_price, quantity }) => ({ price: unit_price.amount, quantity })),
      shippingAmount,
    );
    const cost = orderTotal(
      lines.map(({ price, quantity }) => ({ price: price ?? 0, quantity })),
      shippingAmount,
    );
    if (total === undefined || cost === undefined) {
      throw new Unprocessable('The order is worth more than we can count.', [
        { field: 'items', reason: 'total_too_large' },
      ]);
    }

    const chargeId = uuidv7();
    const items = lines.map(itemRow);
    const attached =
      scope && this.keys.attach(tx, scope, orderId, this.config.PAYMENT_TIMEOUT_MS + settleWithinMs);
    const inserted = tx.row<OrderRow>(insertOrder, [
      orderId,
      creatorId,
      who.clientId,
      order.source?.platform ?? 'api',
      order.source?.store_id ?? who.clientId,
      order.source?.external_order_id ?? publicId('ord', orderId),
      quote.currency,
      total,
      pieces(lines),
      rateId,
      shippingAmount,
      JSON.stringify(order.shipping_address),
      order.shipping_address.country_code,
      cost,
      this.config.PAYMENT_TIMEOUT_MS + this.config.RESUME_AFTER_MS,
      JSON.stringify(items.map((item, position) => ({ ...item, position }))),
      chargeId,
      paymentMethod,
    ]);
    const [, row] = await together([attached, inserted]);
    if (row === undefined) throw new Error('The order was not written.');
    const created = messages.orderCreated.make(
      { order: orderSnapshot(row, items) },
      { occurredAt: this.clock() },
    );
    await together([
      this.outbox.add(tx, created),
      this.takeStock(tx, orderId, order.items, lines), // last, so that hot rows are locked shortest
    ]);
    this.faultPoints.pass('order-written');
    return {
      id: chargeId,
      orderId,
      amount: cost,
      currency: quote.currency,
      paymentMethod,
      reference: null,
      createdAt: row.created_at,
    };
  }

  /** @throws Unprocessable with one detail per line that is short */
  private async takeStock(
    tx: Transaction,
    orderId: string,
    items: readonly OrderItemDto[],
    lines: readonly SellableLine<OrderItemDto>[],
  ): Promise<void> {
    const limited = lines.filter(({ limitedEdition }) => limitedEdition);
    const short = new Set(
      await this.stock.take(
        tx,
        orderId,
        limited.map(({ id, quantity }) => ({ productId: id, quantity })),
      ),
    );
    if (short.size === 0) return;
    const details = items.flatMap((_, index) =>
      short.has(lines[index]?.id ?? '')
        ? [{ field: `items.${index}.sku`, reason: 'insufficient_stock' }]
        : [],
    );
    throw new Unprocessable('Some items are sold out.', details);
  }

  private async resume(orderId: string): Promise<RememberedResponse> {
    const charge = await this.database.row<OpenCharge>(openCharge, [orderId]);
    return charge === undefined ? this.settleOrder.asItStands(orderId) : this.chargeOrder.run(charge);
  }

  private answer(
    response: RememberedResponse,
    headers: Readonly<Record<string, string>> = {},
  ): Answer<RememberedResponse> {
    return new Answer(response, {
      Location: `${this.config.BASE_URL}/store/v1/orders/${response.id}`,
      ...headers,
    });
  }
}

function itemRow(line: SellableLine<OrderItemDto>): ItemRow {
  return {
    id: uuidv7(),
    product_id: line.id,
    release_id: line.releaseId,
    title: line.title,
    release_title: line.releaseTitle,
    product_type: line.productType,
    ean: line.ean,
    quantity: line.quantity,
    unit_amount: line.unit_price.amount,
    royalty_rate: line.royaltyRate,
  };
}
