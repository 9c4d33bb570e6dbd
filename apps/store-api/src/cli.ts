import type { Database } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { readConfig, serviceSettings, systemClock } from '@fulfilment/runtime';
import {
  type CommandContext,
  deadLetterCommands,
  defineCommand,
  publishReplay,
  runServiceCli,
  textArgument,
  timeArgument,
} from '@fulfilment/service-host/operator';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { RechargeOrder } from './billing/recharging/recharge-order.js';
import { rechargeOptions, rechargeOrders } from './billing/recharging/recharge-orders.js';
import { reconcilePayments } from './billing/reconciliation/reconcile-payments.js';
import { catalogueFile, loadCatalogue } from './catalogue/load-catalogue.js';
import { Stock } from './catalogue/stock/stock.js';
import { migrations } from './migrations/index.js';
import { warehouseCommands } from './operator/warehouse-commands.js';
import { redactOrder } from './orders/maintenance/redact-orders.js';
import { replayOrders } from './orders/maintenance/replay-orders.js';
import type { TimeRange } from './payments/payment-gateway.js';
import { loadShipping, shippingFile } from './shipping/load-shipping.js';

type Context = CommandContext<Pick<z.output<typeof serviceSettings>, 'RABBITMQ_URL' | 'RABBITMQ_NAMESPACE'>>;

/** Covers the completer's poll interval of 2 s and the longest PAYMENT_TIMEOUT_MS of 15 s. */
const rechargeTimeoutMs = 20_000;
const pollIntervalMs = 200;

const dayMs = 86_400_000;
/** Limits the whole comparison, which reads every payment of the time range from the provider. */
const reconcileTimeoutMs = 3_600_000;

/** Defines an idempotent command that loads JSON from standard input. */
function loadCommand<File>(
  summary: string,
  schema: z.ZodType<File>,
  load: (database: Database, file: File) => Promise<Readonly<Record<string, number>>>,
) {
  return defineCommand({
    summary,
    arguments: z.object({}),
    run: async ({ database, input }: Context) => load(database, schema.parse(JSON.parse(await input()))),
  });
}

function newRechargeOrder(database: Database): RechargeOrder {
  return new RechargeOrder(database, new Stock(new Outbox(), systemClock));
}

/**
 * Starts a recharge and waits until the running service has settled it, or returns `charge: pending` after
 * the timeout.
 */
async function rechargeAndWait(database: Database, order: string) {
  const rechargeOrder = newRechargeOrder(database);
  await rechargeOrder.run(order);
  const deadlineMs = performance.now() + rechargeTimeoutMs;
  let recharge = await rechargeOrder.readNewestCharge(order);
  while (recharge.charge === 'pending' && performance.now() < deadlineMs) {
    await delay(pollIntervalMs);
    recharge = await rechargeOrder.readNewestCharge(order);
  }
  return { order, ...recharge };
}

/**
 * Compares payments with the configured provider. Only this command loads the provider's modules, since
 * loading them would slow down the start of every command.
 */
async function reconcile(database: Database, range: TimeRange) {
  const { storeApiSettings } = await import('./config.js');
  const { choosePaymentGateway } = await import('./payments/choose-payment-gateway.js');
  const gateway = await choosePaymentGateway(readConfig(storeApiSettings), database, database);
  const { findings, ...counts } = await reconcilePayments({
    database,
    gateway,
    range,
    signal: AbortSignal.timeout(reconcileTimeoutMs),
  });
  const rows = findings.map(({ kind, reference, chargeId }) => ({ kind, reference, charge_id: chargeId }));
  return { since: range.from.toISOString(), until: range.to.toISOString(), ...counts, findings: rows };
}

await runServiceCli({
  name: 'store-api',
  migrations,
  doctor: {
    allSettings: async () => (await import('./config.js')).storeApiSettings,
    extensions: ['pg_trgm', 'btree_gin'],
  },
  settings: serviceSettings.pick({ DATABASE_URL: true, RABBITMQ_URL: true, RABBITMQ_NAMESPACE: true }),
  context: (context): Context => context,
  commands: {
    ...warehouseCommands,
    ...deadLetterCommands,
    'order recharge': defineCommand({
      summary:
        'creates a new charge for an order whose payment failed, or for all such orders of a time range',
      operands: ['ORDER'],
      options: ['--since <TIME>', '--until <TIME>'],
      arguments: rechargeOptions,
      // `rechargeOptions` requires either ORDER or --since.
      run: ({ database }: Context, { ORDER = '', since, until = new Date() }) =>
        since === undefined
          ? rechargeAndWait(database, ORDER)
          : rechargeOrders(database, newRechargeOrder(database), { since, until }),
    }),
    'payments reconcile': defineCommand({
      summary: 'compares payments with those of the provider and prints the differences; changes nothing',
      options: ['--since <TIME>', '--until <TIME>'],
      arguments: z
        .object({ since: timeArgument.optional(), until: timeArgument.optional() })
        .refine(({ since, until = new Date() }) => since === undefined || since < until, {
          path: ['since'],
          message: 'must be before --until, which is by default the current time',
        }),
      run: ({ database }: Context, { since, until = new Date() }) => {
        const from = since ?? new Date(until.getTime() - dayMs);
        return reconcile(database, { from, to: until });
      },
    }),
    'order redact': defineCommand({
      summary: 'redacts the address of an order, except the country',
      operands: ['ORDER'],
      arguments: z.object({ ORDER: textArgument() }),
      run: async ({ database }: Context, { ORDER }) => ({
        order: ORDER,
        ...(await redactOrder(database, ORDER)),
      }),
    }),
    'orders republish': defineCommand({
      summary: 'publishes all orders to creator-api again, which rebuilds its read models (a replay)',
      arguments: z.object({}),
      run: ({ database, settings }: Context) =>
        publishReplay(settings, 'creator-api.replay', replayOrders(database, systemClock)),
    }),
    'catalogue load': loadCommand(
      'loads releases and product types from standard input, as JSON',
      catalogueFile,
      loadCatalogue,
    ),
    'shipping load': loadCommand(
      'loads shipping services and zones from standard input, as JSON',
      shippingFile,
      loadShipping,
    ),
  },
});
