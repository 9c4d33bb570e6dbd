import { messages, parsePublicId, uuidv7 } from '@fulfilment/contracts';
import { Database, statement, together, type Transaction } from '@fulfilment/database';
import { notFound, Unprocessable, ValidationFailed } from '@fulfilment/error-envelope';
import { Answer, type Caller, fingerprint, type KeyScope, replayHeaders } from '@fulfilment/http-service';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { refuseUnsellable, type SellableLine, SellableProducts } from '../catalogue/sellable-products.js';
import { BecameLimited, Stock } from '../catalogue/stock.js';
import { CONFIG, type StoreApiSettings } from '../config.js';
import { IdempotencyKeys, type RememberedResponse } from '../idempotency/idempotency-keys.js';
import { HonourRate } from '../shipping/honour-rate.js';
import { requirementsOf } from './address-requirements.js';
import { missingAddressParts } from './address.rules.js';
import { ChargeOrder } from './charge-order.js';
import { FaultPoints } from './fault-points.js';
import { type OpenCharge, openChargeColumns } from './open-charge.js';
import { insertOrder, newItem, newOrder, type Terms } from './new-order.js';
import { orderSnapshot } from './order-row.js';
import { ordersPlaced } from './measure-orders.js';
import { PaymentMethods } from './payment-methods.js';
import { foreignCurrencies, orderTotal } from './order.rules.js';
import type { OrderItemDto, PlaceOrderDto } from './place-order.dto.js';
import { SettleOrder } from './settle-order.js';

/** Beside the provider's time, what a request may take from the order row to its answer. */
const settleWithinMs = 2_000;

const orderIsThere = statement('orders.is-there', 'SELECT id FROM orders WHERE id = $1');
const openCharge = statement(
  'orders.open-charge',
  `SELECT ${openChargeColumns('c')} FROM charges c WHERE order_id = $1 AND status = 'pending'`,
);

/**
 * Places an order in atomic phases: (0) claim the key; (1) price it, then one transaction: take stock, write the order, its charge and
 * `order.created`; (2) charge, with no transaction open; (3) settle. A death between two phases is completed by ResumeOrders.
 */
@Injectable()
export class PlaceOrder {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyKeys,
    private readonly honourRate: HonourRate,
    private readonly products: SellableProducts,
    private readonly paymentMethods: PaymentMethods,
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
    if (claim.state === 'remembered') return this.answer(claim.response, replayHeaders);
    if (claim.state === 'resumed') return this.answer(await this.resume(claim.orderId), replayHeaders);
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
    const charge = await this.agreeAndWrite(who, creatorId, order, orderId, scope);
    this.faultPoints.pass('order-placed');
    const response = await this.chargeOrder.run(charge);
    ordersPlaced.inc({ outcome: response.status });
    return response;
  }

  /** Repeated when a product has become a limited edition in between, which happens to a product once. */
  private async agreeAndWrite(
    who: Caller,
    creatorId: string,
    order: PlaceOrderDto,
    orderId: string,
    scope: KeyScope | undefined,
  ): Promise<OpenCharge> {
    for (;;) {
      const terms = await this.agree(creatorId, order);
      try {
        return await this.database.transaction(
          (tx) => this.write(tx, who, creatorId, order, orderId, terms, scope),
          { certain: { written: orderIsThere, values: [orderId] } }, // the caller gets an order exactly when there is one
        );
      } catch (error) {
        if (!(error instanceof BecameLimited)) throw error;
      }
    }
  }

  /** What the order is about and comes to, as the catalogue says now. Stock alone may be gone before the order is written. */
  private async agree(creatorId: string, order: PlaceOrderDto): Promise<Terms> {
    const rateId = parsePublicId('rate', order.shipping_rate_id) ?? notFound('shipping rate');
    // Prices in the currency of the first line: with a quote in another the order is refused below.
    const currency = order.items[0]?.unit_price.currency ?? 'GBP';
    const [quote, paymentMethod, products] = await together([
      this.honourRate.find(creatorId, rateId),
      this.paymentMethods.of(creatorId),
      this.products.bySku(creatorId, order.items, currency),
    ]);
    this.honourRate.refuseStale(quote, order.shipping_address.country_code);
    const foreign = foreignCurrencies(order.items, quote.currency);
    if (foreign.length > 0) throw new Unprocessable('An order has one currency.', foreign);
    const lines = refuseUnsellable(order.items, products, { fromStock: true });
    const shippingAmount = this.honourRate.price(quote, lines);
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
    const { currency: agreed, readAt: placedAt } = quote;
    return { rateId, lines, currency: agreed, shippingAmount, total, cost, paymentMethod, placedAt };
  }

  private async write(
    tx: Transaction,
    who: Caller,
    creatorId: string,
    order: PlaceOrderDto,
    orderId: string,
    terms: Terms,
    scope: KeyScope | undefined,
  ): Promise<OpenCharge> {
    const row = newOrder(who, creatorId, order, orderId, terms);
    const items = terms.lines.map(newItem);
    const chargeId = uuidv7();
    const created = messages.orderCreated.make(
      { order: orderSnapshot(row, items) },
      { occurredAt: this.clock() },
    );
    await together([
      scope && this.keys.attach(tx, scope, orderId, this.config.PAYMENT_TIMEOUT_MS + settleWithinMs),
      insertOrder(tx, {
        row,
        clientId: who.clientId,
        items,
        address: order.shipping_address,
        chargeId,
        paymentMethod: terms.paymentMethod,
        resumeAfterMs: this.config.PAYMENT_TIMEOUT_MS + this.config.RESUME_AFTER_MS,
      }),
      this.outbox.add(tx, created),
      this.stock.holdUnlimited(
        tx,
        terms.lines.flatMap(({ id, limitedEdition }) => (limitedEdition ? [] : [id])),
      ),
      this.takeStock(tx, orderId, order.items, terms.lines), // last, so that hot rows are locked shortest
    ]);
    this.faultPoints.pass('order-written');
    return {
      id: chargeId,
      orderId,
      amount: terms.cost,
      currency: terms.currency,
      paymentMethod: terms.paymentMethod,
      reference: null,
      createdAt: row.created_at,
      ageMs: 0,
      keyNumber: 1,
      keySpentForMs: null,
      spentCustomer: null,
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
