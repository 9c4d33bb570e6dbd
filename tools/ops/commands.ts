import { messages } from '@fulfilment/contracts';
import type { ParseArgsConfig } from 'node:util';
import { z } from 'zod';

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

const text = { type: 'string' } as const;
const now = () => ({ occurredAt: new Date() });

const parcel = {
  ORDER: z.string(),
  carrier: z.string().trim().min(1),
  'tracking-number': z.string().trim().min(1),
  'tracking-url': z.url({ protocol: /^https?$/ }),
};
const parcelFlags = { carrier: text, 'tracking-number': text, 'tracking-url': text };

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
    flags: { ...parcelFlags, replaces: text },
    arguments: z.object({ ...parcel, replaces: z.string().optional() }),
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
    flags: { 'tracking-number': text },
    arguments: z.object({ ORDER: z.string(), 'tracking-number': z.string().optional() }),
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
    flags: { reason: text },
    arguments: z.object({ ORDER: z.string(), reason: z.string().trim().min(1).max(500) }),
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
    arguments: z.object({
      SKU: z.string(),
      N: z
        .string()
        .regex(/^\d{1,9}$/, 'must be a whole number')
        .transform(Number),
    }),
    run: (suite, given) =>
      report(suite, messages.fulfilmentStockSet.make({ sku: given.SKU, quantity: given.N }, now())),
  }),
  command(['product', 'release'], {
    usage: 'SKU',
    positionals: ['SKU'],
    arguments: z.object({ SKU: z.string() }),
    run: (suite, given) => report(suite, messages.fulfilmentProductReleased.make({ sku: given.SKU }, now())),
  }),
  command(['product', 'withdraw'], {
    usage: 'SKU',
    positionals: ['SKU'],
    arguments: z.object({ SKU: z.string() }),
    run: (suite, given) => report(suite, messages.fulfilmentProductWithdrawn.make({ sku: given.SKU }, now())),
  }),
  command(['release', 'approve'], {
    usage: 'RELEASE [--product-type T]',
    positionals: ['RELEASE'],
    flags: { 'product-type': text },
    arguments: z.object({ RELEASE: z.string(), 'product-type': z.string().optional() }),
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
  serviceCommand('auth-server', ['organisation', 'create'], '--name N', { name: text }),
  serviceCommand('auth-server', ['user', 'create'], '--email E --password P [--organisation O] [--role R]', {
    email: text,
    password: text,
    organisation: text,
    role: text,
  }),
  serviceCommand(
    'auth-server',
    ['creator', 'create'],
    '--organisation O --name N --payment-method pm_ok|pm_declined|pm_timeout',
    {
      organisation: text,
      name: text,
      'payment-method': text,
      'settlement-currency': text,
    },
  ),
  serviceCommand('auth-server', ['creator', 'payment-method'], 'CREATOR pm_ok|pm_declined|pm_timeout', {}, [
    'CREATOR',
    'METHOD',
  ]),
  serviceCommand(
    'auth-server',
    ['client', 'create'],
    '--name N --redirect-uri U [--first-party] [--confidential]',
    {
      name: text,
      'redirect-uri': { type: 'string', multiple: true },
      'first-party': { type: 'boolean' },
      confidential: { type: 'boolean' },
    },
  ),
  serviceCommand('auth-server', ['keys', 'rotate'], ''),
];

const statisticsCommands = [
  serviceCommand('creator-api', ['rates', 'load'], 'FILE', {}, ['FILE']),
  serviceCommand('creator-api', ['statistics', 'rebuild'], ''),
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
