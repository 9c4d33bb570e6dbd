import { isUuid, messages, type MessageType, parsePublicId } from '@fulfilment/contracts';
import { findOutcome, publishMessage } from '@fulfilment/messaging';
import {
  type BrokerSettings,
  type CommandContext,
  currentOperator,
  defineCommand,
  textArgument,
} from '@fulfilment/service-host/operator';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

type Context = Pick<CommandContext<BrokerSettings>, 'database' | 'settings'>;

const outcomeTimeoutMs = 30_000;
const pollIntervalMs = 50;
/** The largest number of nine digits, which the expressions below accept. It is below `maxStock`. */
const maxPieces = 999_999_999;

const piecesArgument = z
  .string('is missing')
  .regex(/^\d{1,9}$/, `must be a whole number from 0 to ${maxPieces}`)
  .transform(Number);
const deltaArgument = z
  .string('is missing')
  .regex(/^(?=.*[1-9])[+-]?\d{1,9}$/, `must be a whole number from -${maxPieces} to ${maxPieces}, and not 0`)
  .transform(Number);
const isWebAddress = (text: string): boolean =>
  z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .safeParse(text).success;

const orderArgument = textArgument().refine(
  (text) => parsePublicId('ord', text) !== undefined,
  'must be the id of an order (ord_…)',
);
const skuArgument = textArgument().refine(
  (text) => parsePublicId('prod', text) !== undefined,
  'must be the id of a product (prod_…)',
);
const releaseArgument = textArgument().refine(
  (text) => isUuid(text.toLowerCase()) || parsePublicId('prod', text) !== undefined,
  'must be the id of a release (prod_…) or its UUID',
);

const trackingArguments = {
  ORDER: orderArgument,
  carrier: textArgument(),
  'tracking-number': textArgument(),
  'tracking-url': z.string('is missing').refine(isWebAddress, 'must be an http or https address'),
};
const trackingOptions = ['--carrier <CARRIER>', '--tracking-number <NUMBER>', '--tracking-url <URL>'];

/**
 * Commands that publish `fulfilment.*` messages as the warehouse does, or `catalogue.*` messages, and return
 * when these are applied or deferred (ADR 8).
 */
export const warehouseCommands = {
  'order ship': defineCommand({
    summary: 'reports that a package was handed to the carrier',
    operands: ['ORDER'],
    options: trackingOptions,
    arguments: z.object(trackingArguments),
    run: (context: Context, args) => report(context, messages.fulfilmentShipped, packageOf(args)),
  }),
  'order track': defineCommand({
    summary: 'corrects the tracking of the newest package, or of the package with the number --replaces',
    operands: ['ORDER'],
    options: [...trackingOptions, '--replaces <NUMBER>'],
    arguments: z.object({ ...trackingArguments, replaces: textArgument().optional() }),
    run: (context: Context, args) =>
      report(context, messages.fulfilmentTrackingCorrected, {
        ...packageOf(args),
        replaces_tracking_number: args.replaces,
      }),
  }),
  'order deliver': defineCommand({
    summary: 'reports that an order, or one package of it, was delivered',
    operands: ['ORDER'],
    options: ['--tracking-number <NUMBER>'],
    arguments: z.object({ ORDER: orderArgument, 'tracking-number': textArgument().optional() }),
    run: (context: Context, { ORDER: order_id, 'tracking-number': tracking_number }) =>
      report(context, messages.fulfilmentDelivered, { order_id, tracking_number }),
  }),
  'order cancel': defineCommand({
    summary: 'cancels an order',
    operands: ['ORDER'],
    options: ['--reason <REASON>'],
    arguments: z.object({ ORDER: orderArgument, reason: textArgument(500) }),
    run: (context: Context, { ORDER: order_id, reason }) =>
      report(context, messages.fulfilmentCancelled, { order_id, reason }),
  }),
  'stock set': defineCommand({
    summary: 'sets the number of pieces left; the product becomes a limited edition',
    operands: ['SKU', 'N'],
    arguments: z.object({ SKU: skuArgument, N: piecesArgument }),
    run: (context: Context, { SKU: sku, N: quantity }) =>
      report(context, messages.fulfilmentStockSet, { sku, quantity }),
  }),
  'stock adjust': defineCommand({
    summary: 'adds pieces to a limited edition, or removes them (`-3`); prefer it to `stock set`',
    operands: ['SKU', 'DELTA'],
    arguments: z.object({ SKU: skuArgument, DELTA: deltaArgument }),
    run: (context: Context, { SKU: sku, DELTA: delta }) =>
      report(context, messages.fulfilmentStockAdjusted, { sku, delta }),
  }),
  'product release': defineCommand({
    summary: 'releases a product for sale',
    operands: ['SKU'],
    arguments: z.object({ SKU: skuArgument }),
    run: (context: Context, { SKU: sku }) => report(context, messages.fulfilmentProductReleased, { sku }),
  }),
  'product withdraw': defineCommand({
    summary: 'withdraws a product from sale',
    operands: ['SKU'],
    arguments: z.object({ SKU: skuArgument }),
    run: (context: Context, { SKU: sku }) => report(context, messages.fulfilmentProductWithdrawn, { sku }),
  }),
  'release approve': defineCommand({
    summary: 'prices and publishes a pending release',
    operands: ['RELEASE'],
    options: ['--product-type <TYPE>'],
    arguments: z.object({ RELEASE: releaseArgument, 'product-type': textArgument().optional() }),
    run: (context: Context, { RELEASE: release_id, 'product-type': product_type }) =>
      report(context, messages.catalogueReleaseApproved, { release_id, product_type }),
  }),
};

function packageOf(args: z.output<z.ZodObject<typeof trackingArguments>>) {
  return {
    order_id: args.ORDER,
    carrier: args.carrier,
    tracking_number: args['tracking-number'],
    tracking_url: args['tracking-url'],
  };
}

/**
 * Publishes a message about an event that occurs now. Returns when the running service has applied or
 * deferred it.
 * @throws Error if it is rejected, or not handled in time
 */
async function report<Schema extends z.ZodType>(
  { database, settings }: Context,
  messageType: MessageType<string, Schema>,
  data: z.input<Schema>,
): Promise<object> {
  const message = messageType.make(data, { occurredAt: new Date() });
  const operator = currentOperator();
  await publishMessage(
    { url: settings.RABBITMQ_URL, namespace: settings.RABBITMQ_NAMESPACE },
    { ...message, ...(operator !== undefined && { operator }) },
  );
  const deadlineMs = performance.now() + outcomeTimeoutMs;
  let handled = await findOutcome(database, message.id);
  while (handled === undefined && performance.now() < deadlineMs) {
    await delay(pollIntervalMs);
    handled = await findOutcome(database, message.id);
  }
  if (handled === undefined)
    throw new Error(
      `The message is published, but store-api has not handled it within ${outcomeTimeoutMs / 1000} s. It is stopped or has a backlog, and will handle the message later.`,
    );
  const { outcome, reason } = handled; // `refused`: rejected; `held`: deferred
  if (outcome === 'refused') throw new Error(`Rejected: ${reason ?? 'no reason given'}.`);
  return { message_id: message.id, type: message.type, outcome, ...(outcome === 'held' && { reason }) };
}
