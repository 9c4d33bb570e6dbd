import {
  cancelOrder,
  type Client,
  iterate,
  listReleases,
  placeOrder,
  quoteRates,
  readConnectedCreator,
  reportTestEvent,
} from '@fulfilment/client/store';
import { type WebhookEventName, webhookEventNames } from '@fulfilment/client/webhooks';
import { Failure, type Terminal, UsageError } from './terminal.js';

/** Runs an operator command of a development suite, such as `order ship …`. Resolves when it is done. */
export type Operate = (...command: readonly string[]) => Promise<void>;

export interface TriggerContext {
  readonly client: Client;
  /** Undefined if no folder of a development suite was given. */
  readonly operate: Operate | undefined;
  /** The product to order or to change; by default the first one that fits. */
  readonly product: string | undefined;
}

/** Returns the id of the order or product that the event is about. */
type Trigger = (context: TriggerContext, terminal: Terminal) => Promise<string>;

/**
 * Each event is real: an order is placed, shipped or cancelled; a product changes, and changes back. Placing
 * an order that is paid causes `order.created` and `order.processing`.
 */
const triggers: Readonly<Record<WebhookEventName, Trigger>> = {
  'order.created': place,
  'order.processing': place,
  'order.shipped': (context) => ship(context),
  'order.tracking_updated': (context) => ship(context, 'tracking_updated'),
  'order.delivered': (context) => ship(context, 'delivered'),
  'order.cancelled': async (context) => {
    const id = await place(context);
    await cancelOrder({ client: context.client, path: { id } });
    return id;
  },
  'order.payment_failed': declinePayment,
  'product.unavailable': withdrawAndRelease,
  'product.available': withdrawAndRelease,
  'product.out_of_stock': sellOutOrRestock,
  'product.in_stock': sellOutOrRestock,
  'product.inventory_changed': (context) => adjustStock(context, () => 1),
};

/**
 * Causes the events one after another.
 * @throws AbortError before the next event when the signal is aborted, so that a change is always reversed
 */
export async function trigger(
  events: readonly string[],
  context: TriggerContext,
  terminal: Terminal,
  { json, signal }: { readonly json: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const known = events.map((event) => {
    const name = webhookEventNames.find((candidate) => candidate === event);
    if (name !== undefined) return name;
    throw new UsageError(`Unknown event "${event}". All events: ${webhookEventNames.join(', ')}`);
  });
  for (const event of known) {
    signal.throwIfAborted();
    const subject = await triggers[event](context, terminal);
    terminal.result(json ? JSON.stringify({ event, subject }) : `${event}  ${subject}`);
  }
}

function requireOperator({ operate }: TriggerContext): Operate {
  if (operate !== undefined) return operate;
  throw new Failure(
    'This event needs the operator. It can be triggered only with a development suite: name the folder of its clone with --clone. Events of orders that ship can also be triggered for a test creator.',
  );
}

async function place({ client, product }: TriggerContext): Promise<string> {
  const sku =
    product ?? (await findProduct(client, ({ isAvailable, isLimited }) => isAvailable && !isLimited))?.id;
  if (sku === undefined)
    throw new Failure('No product without limited stock is available. Name one with --product.');
  const { data: rates } = await quoteRates({
    client,
    body: { country_code: 'GB', items: [{ sku, quantity: 1 }] },
  });
  const [rate] = rates.data;
  if (rate === undefined) throw new Failure('No shipping service ships the product to GB.');
  const { data: order } = await placeOrder({
    client,
    body: {
      items: [{ sku, quantity: 1, unit_price: { amount: 2999, currency: 'GBP' } }],
      shipping_rate_id: rate.id,
      shipping_address: {
        full_name: 'Aiko Mori',
        address_line_1: '1 Quay Street',
        city: 'London',
        postal_code: 'N1 1AA',
        country_code: 'GB',
      },
      source: { platform: 'cli' },
    },
  });
  return order.id;
}

async function ship(context: TriggerContext, next?: 'tracking_updated' | 'delivered'): Promise<string> {
  const report = await reportFunction(context); // throws before an order is placed that cannot be shipped
  const order = await place(context);
  await report(order, 'shipped');
  if (next !== undefined) await report(order, next);
  return order;
}

/** Reports a fulfilment event of an order, as the warehouse does. */
type Report = (order: string, event: 'shipped' | 'tracking_updated' | 'delivered') => Promise<unknown>;

/**
 * Returns the function that reports: by operator commands, or for a test creator without an operator by the
 * Store API, which simulates the warehouse.
 */
async function reportFunction(context: TriggerContext): Promise<Report> {
  const { client, operate } = context;
  if (operate === undefined && (await readConnectedCreator({ client })).data.livemode === false)
    return (id, event) => reportTestEvent({ client, path: { id }, body: { event } });
  const command = requireOperator(context);
  const commands = {
    shipped: (order: string) => command('order', 'ship', order, ...parcel('TEST0001')),
    tracking_updated: (order: string) => command('order', 'track', order, ...parcel('TEST0002')),
    delivered: (order: string) => command('order', 'deliver', order),
  };
  return (order, event) => commands[event](order);
}

function parcel(number: string): readonly string[] {
  const url = `https://track.example/${number}`;
  return ['--carrier', 'Royal Mail', '--tracking-number', number, '--tracking-url', url];
}

/** Places an order that is declined. The previous payment method cannot be read, so `pm_ok` replaces it. */
async function declinePayment(context: TriggerContext, terminal: Terminal): Promise<string> {
  const operate = requireOperator(context);
  const { data: creator } = await readConnectedCreator({ client: context.client });
  try {
    await operate('creator', 'payment-method', creator.id, 'pm_declined');
    return await place(context);
  } finally {
    await operate('creator', 'payment-method', creator.id, 'pm_ok');
    terminal.note(
      `The payment method of ${creator.id} is now pm_ok. To set another: npm run -s ops -- creator payment-method ${creator.id} METHOD`,
    );
  }
}

async function withdrawAndRelease(context: TriggerContext): Promise<string> {
  const operate = requireOperator(context);
  const id = context.product ?? (await findProduct(context.client, ({ isAvailable }) => isAvailable))?.id;
  if (id === undefined) throw new Failure('No product is available. Name one with --product.');
  try {
    await operate('product', 'withdraw', id);
  } finally {
    await operate('product', 'release', id);
  }
  return id;
}

function sellOutOrRestock(context: TriggerContext): Promise<string> {
  return adjustStock(context, (quantity) => (quantity === 0 ? 1 : -quantity));
}

/** Adjusts the stock, and reverses the adjustment. Pieces that are sold in between stay sold. */
async function adjustStock(context: TriggerContext, deltaOf: (quantity: number) => number): Promise<string> {
  const operate = requireOperator(context);
  const { id, quantity } = await findLimitedEdition(context);
  const delta = deltaOf(quantity);
  try {
    await operate('stock', 'adjust', id, String(delta));
    await operate('stock', 'adjust', id, String(-delta));
  } catch (error) {
    // The adjustment may be applied in spite of the error, so it cannot be reversed here.
    const message = error instanceof Error ? error.message : String(error);
    throw new Failure(`${message} Check the stock of ${id}; it was ${quantity} before.`, { cause: error });
  }
  return id;
}

/** Returns a product whose stock can be adjusted. */
async function findLimitedEdition({ client, product }: TriggerContext) {
  const found = await findProduct(client, ({ id, isAvailable, isLimited }) =>
    product === undefined ? isAvailable && isLimited : id === product,
  );
  if (found?.isAvailable === false)
    throw new Failure(`${found.id} is not available. Name an available limited edition with --product.`);
  if (found?.quantity == null) {
    const problem =
      product === undefined
        ? 'No available product is a limited edition'
        : `${product} is not a limited edition of this creator`;
    throw new Failure(`${problem}. Create one: npm run -s ops -- stock set PRODUCT 100`);
  }
  return { id: found.id, quantity: found.quantity };
}

interface Product {
  readonly id: string;
  readonly isAvailable: boolean;
  readonly isLimited: boolean;
  readonly quantity: number | null;
}

async function findProduct(
  client: Client,
  matches: (product: Product) => boolean,
): Promise<Product | undefined> {
  for await (const release of iterate((cursor) =>
    listReleases({ client, query: { format: 'detailed', cursor } }),
  )) {
    const found = ('products' in release ? release.products : [])
      .map(({ id, status, availability }) => ({
        id,
        isAvailable: status === 'available',
        isLimited: availability.limited_edition,
        quantity: availability.quantity,
      }))
      .find(matches);
    if (found !== undefined) return found;
  }
  return undefined;
}
