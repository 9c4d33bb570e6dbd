import { messages } from '@fulfilment/contracts';
import { z } from 'zod';
import { text, webAddress, wholeChange, wholeNumber } from './arguments.ts';
import { command, word } from './command.ts';
import { report } from './report.ts';

const now = () => ({ occurredAt: new Date() });

const parcel = {
  ORDER: text(),
  carrier: text(),
  'tracking-number': text(),
  'tracking-url': webAddress,
};
const parcelFlags = { carrier: word, 'tracking-number': word, 'tracking-url': word };

export const orderCommands = [
  command(['order', 'ship'], {
    usage: 'ORDER --carrier C --tracking-number N --tracking-url U',
    positionals: ['ORDER'],
    flags: parcelFlags,
    arguments: z.object(parcel),
    run: (suite, given) => report(suite, messages.fulfilmentShipped.make(packageArguments(given), now())),
  }),
  command(['order', 'track'], {
    usage: 'ORDER --carrier C --tracking-number N --tracking-url U [--replaces N]',
    positionals: ['ORDER'],
    flags: { ...parcelFlags, replaces: word },
    arguments: z.object({ ...parcel, replaces: text().optional() }),
    run: (suite, given) =>
      report(
        suite,
        messages.fulfilmentTrackingCorrected.make(
          {
            ...packageArguments(given),
            ...(given.replaces === undefined ? {} : { replaces_tracking_number: given.replaces }),
          },
          now(),
        ),
      ),
  }),
  command(['order', 'deliver'], {
    usage: 'ORDER [--tracking-number N]',
    positionals: ['ORDER'],
    flags: { 'tracking-number': word },
    arguments: z.object({ ORDER: text(), 'tracking-number': text().optional() }),
    run: (suite, given) =>
      report(
        suite,
        messages.fulfilmentDelivered.make(
          {
            order_id: given.ORDER,
            ...(given['tracking-number'] === undefined ? {} : { tracking_number: given['tracking-number'] }),
          },
          now(),
        ),
      ),
  }),
  command(['order', 'cancel'], {
    usage: 'ORDER --reason R',
    positionals: ['ORDER'],
    flags: { reason: word },
    arguments: z.object({ ORDER: text(), reason: text(500) }),
    run: (suite, given) =>
      report(
        suite,
        messages.fulfilmentCancelled.make({ order_id: given.ORDER, reason: given.reason }, now()),
      ),
  }),
];

export const productCommands = [
  command(['stock', 'set'], {
    usage: 'SKU N',
    positionals: ['SKU', 'N'],
    arguments: z.object({ SKU: text(), N: wholeNumber }),
    run: (suite, given) =>
      report(suite, messages.fulfilmentStockSet.make({ sku: given.SKU, quantity: given.N }, now())),
  }),
  command(['stock', 'adjust'], {
    usage: 'SKU DELTA',
    positionals: ['SKU', 'DELTA'],
    arguments: z.object({ SKU: text(), DELTA: wholeChange }),
    run: (suite, given) =>
      report(suite, messages.fulfilmentStockAdjusted.make({ sku: given.SKU, delta: given.DELTA }, now())),
  }),
  command(['product', 'release'], {
    usage: 'SKU',
    positionals: ['SKU'],
    arguments: z.object({ SKU: text() }),
    run: (suite, given) => report(suite, messages.fulfilmentProductReleased.make({ sku: given.SKU }, now())),
  }),
  command(['product', 'withdraw'], {
    usage: 'SKU',
    positionals: ['SKU'],
    arguments: z.object({ SKU: text() }),
    run: (suite, given) => report(suite, messages.fulfilmentProductWithdrawn.make({ sku: given.SKU }, now())),
  }),
  command(['release', 'approve'], {
    usage: 'RELEASE [--product-type T]',
    positionals: ['RELEASE'],
    flags: { 'product-type': word },
    arguments: z.object({ RELEASE: text(), 'product-type': text().optional() }),
    run: (suite, given) =>
      report(
        suite,
        messages.catalogueReleaseApproved.make(
          { release_id: given.RELEASE, product_type: given['product-type'] },
          now(),
        ),
      ),
  }),
];

function packageArguments(given: z.output<z.ZodObject<typeof parcel>>) {
  return {
    order_id: given.ORDER,
    carrier: given.carrier,
    tracking_number: given['tracking-number'],
    tracking_url: given['tracking-url'],
  };
}
