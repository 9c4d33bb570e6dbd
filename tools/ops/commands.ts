import { messages } from '@fulfilment/contracts';
import type { ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import { currency, email, flag, paymentMethod, role, text, webAddress, wholeNumber } from './arguments.ts';
import { report } from './report.ts';
import type { RunningSuite } from './running-suite.ts';
import { serviceCommand } from './service-command.ts';

export interface Command {
  readonly words: readonly [string, string];
  readonly usage: string;
  readonly positionals: readonly string[];
  readonly flags: NonNullable<ParseArgsConfig['options']>;
  /** What the positionals and flags must be together. */
  readonly arguments: z.ZodType<Record<string, unknown>>;
  readonly run: (suite: RunningSuite, given: Record<string, unknown>) => Promise<Record<string, unknown>>;
}

const word = { type: 'string' } as const;
const alone = { type: 'boolean' } as const;
const now = () => ({ occurredAt: new Date() });

const parcel = {
  ORDER: text(),
  carrier: text(),
  'tracking-number': text(),
  'tracking-url': webAddress,
};
const parcelFlags = { carrier: word, 'tracking-number': word, 'tracking-url': word };

/** Pairs the shape of the arguments with the work, so that the work sees them typed. */
function command<Arguments extends z.ZodType<Record<string, unknown>>>(
  words: Command['words'],
  rest: {
    readonly usage: string;
    readonly positionals?: readonly string[];
    readonly flags?: Command['flags'];
    readonly arguments: Arguments;
    readonly run: (suite: RunningSuite, given: z.output<Arguments>) => Promise<Record<string, unknown>>;
  },
): Command {
  return {
    words,
    usage: `${words.join(' ')} ${rest.usage}`.trim(),
    positionals: rest.positionals ?? [],
    flags: rest.flags ?? {},
    arguments: rest.arguments,
    run: (suite, given) => rest.run(suite, rest.arguments.parse(given)),
  };
}

const orderCommands = [
  command(['order', 'ship'], {
    usage: 'ORDER --carrier C --tracking-number N --tracking-url U',
    positionals: ['ORDER'],
    flags: parcelFlags,
    arguments: z.object(parcel),
    run: (suite, given) => report(suite, messages.fulfilmentShipped.make(packageOf(given), now())),
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
            ...packageOf(given),
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

const productCommands = [
  command(['stock', 'set'], {
    usage: 'SKU N',
    positionals: ['SKU', 'N'],
    arguments: z.object({ SKU: text(), N: wholeNumber }),
    run: (suite, given) =>
      report(suite, messages.fulfilmentStockSet.make({ sku: given.SKU, quantity: given.N }, now())),
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

/** Accounts, creators, clients and signing keys belong to auth-server. */
const authCommands = [
  serviceCommand('auth-server', ['organisation', 'create'], {
    usage: '--name N',
    flags: { name: word },
    arguments: z.object({ name: text(200) }),
  }),
  serviceCommand('auth-server', ['user', 'create'], {
    usage: '--email E --password P [--name N] [--organisation O] [--role R]',
    flags: { email: word, password: word, name: word, organisation: word, role: word },
    arguments: z.object({
      email,
      password: text(1024),
      name: text(200).optional(),
      organisation: text().optional(),
      role: role.optional(),
    }),
  }),
  serviceCommand('auth-server', ['creator', 'create'], {
    usage:
      '--organisation O --name N --payment-method pm_ok|pm_declined|pm_timeout [--settlement-currency C]',
    flags: { organisation: word, name: word, 'payment-method': word, 'settlement-currency': word },
    arguments: z.object({
      organisation: text(),
      name: text(200),
      'payment-method': paymentMethod,
      'settlement-currency': currency.optional(),
    }),
  }),
  serviceCommand('auth-server', ['creator', 'payment-method'], {
    usage: 'CREATOR pm_ok|pm_declined|pm_timeout',
    positionals: ['CREATOR', 'METHOD'],
    arguments: z.object({ CREATOR: text(), METHOD: paymentMethod }),
  }),
  serviceCommand('auth-server', ['client', 'create'], {
    usage: '--name N --redirect-uri U [--first-party] [--confidential]',
    flags: {
      name: word,
      'redirect-uri': { type: 'string', multiple: true },
      'first-party': alone,
      confidential: alone,
    },
    arguments: z
      .object({
        name: text(100),
        'redirect-uri': z.array(text(2048)).optional(),
        'first-party': flag,
        confidential: flag,
      })
      // A confidential client without one is a resource server, which introspects.
      .refine((given) => given.confidential === true || given['redirect-uri'] !== undefined, {
        path: ['redirect-uri'],
        error: 'is missing',
      }),
  }),
  serviceCommand('auth-server', ['keys', 'rotate'], { usage: '', arguments: z.object({}) }),
];

const statisticsCommands = [
  serviceCommand('creator-api', ['rates', 'load'], {
    usage: 'FILE',
    positionals: ['FILE'],
    arguments: z.object({ FILE: text(4096) }),
  }),
  serviceCommand('creator-api', ['statistics', 'rebuild'], { usage: '', arguments: z.object({}) }),
];

export const commands: readonly Command[] = [
  ...orderCommands,
  ...productCommands,
  ...authCommands,
  ...statisticsCommands,
];

function packageOf(given: z.output<z.ZodObject<typeof parcel>>) {
  return {
    order_id: given.ORDER,
    carrier: given.carrier,
    tracking_number: given['tracking-number'],
    tracking_url: given['tracking-url'],
  };
}
