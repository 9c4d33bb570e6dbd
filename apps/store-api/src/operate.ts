import type { Database } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { readConfig, serviceSettings, systemClock } from '@fulfilment/runtime';
import {
  deadLetterCommands,
  momentArgument,
  operateService,
  operatorCommand,
  type OperatorSite,
  tellAgain,
} from '@fulfilment/service-host/operator';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { catalogueFile, loadCatalogue } from './catalogue/load-catalogue.js';
import { Stock } from './catalogue/stock.js';
import { migrations } from './migrations/index.js';
import { ordersAgain } from './orders/orders-again.js';
import { RechargeOrder } from './orders/recharge-order.js';
import { rechargeOrders } from './orders/recharge-orders.js';
import { redactOrder } from './orders/redact-orders.js';
import type { TimeRange } from './payments/payment-gateway.js';
import { reconcilePayments } from './payments/reconcile-payments.js';
import { loadShipping, shippingFile } from './shipping/load-shipping.js';

type Site = OperatorSite<Pick<z.output<typeof serviceSettings>, 'RABBITMQ_URL' | 'RABBITMQ_NAMESPACE'>>;

/** How long a recharge is waited for: the completer's two seconds, and the payment provider's ten. */
const settledWithinMs = 20_000;
const lookEveryMs = 200;

const dayMs = 86_400_000;
const reconciledWithinMs = 3_600_000;

/** A command that reads JSON from standard input and may run again. */
function loading<File>(schema: z.ZodType<File>, load: (database: Database, file: File) => Promise<object>) {
  return operatorCommand({
    arguments: z.object({}),
    run: async ({ database, input }: Site) => load(database, schema.parse(JSON.parse(await input()))),
  });
}

function rechargeOrderOn(database: Database): RechargeOrder {
  return new RechargeOrder(database, new Stock(new Outbox(), systemClock));
}

/** Begins a recharge and waits until the running service has settled it; `charge` stays `pending` when that takes longer. */
async function rechargeOrder(database: Database, order: string) {
  const rechargeOrder = rechargeOrderOn(database);
  await rechargeOrder.run(order);
  const endsAtMs = performance.now() + settledWithinMs;
  let recharge = await rechargeOrder.newest(order);
  while (recharge.charge === 'pending' && performance.now() < endsAtMs) {
    await delay(lookEveryMs);
    recharge = await rechargeOrder.newest(order);
  }
  return { order, ...recharge };
}

/** Compares payments with the provider that the service's environment names. What it needs is loaded for this command alone. */
async function reconcile(database: Database, range: TimeRange) {
  const { storeApiSettings } = await import('./config.js');
  const { choosePaymentGateway } = await import('./payments/choose-payment-gateway.js');
  const gateway = choosePaymentGateway(readConfig(storeApiSettings), database);
  const { findings, ...counts } = await reconcilePayments(
    database,
    gateway,
    range,
    AbortSignal.timeout(reconciledWithinMs),
  );
  const rows = findings.map(({ kind, reference, chargeId }) => ({ kind, reference, charge_id: chargeId }));
  return { since: range.from.toISOString(), until: range.to.toISOString(), ...counts, findings: rows };
}

await operateService({
  name: 'store-api',
  migrations,
  settings: serviceSettings.pick({ DATABASE_URL: true, RABBITMQ_URL: true, RABBITMQ_NAMESPACE: true }),
  context: (site): Site => site,
  commands: {
    ...deadLetterCommands,
    'order recharge': operatorCommand({
      operands: ['ORDER'],
      flags: { since: 'text', until: 'text' },
      arguments: z
        .object({
          ORDER: z.string().optional(),
          since: momentArgument.optional(),
          until: momentArgument.optional(),
        })
        .superRefine(({ ORDER, since, until }, context) => {
          const reject = (path: string, message: string): void =>
            context.addIssue({ code: 'custom', path: [path], message });
          if (ORDER === undefined && since === undefined) reject('ORDER', 'is missing');
          if (ORDER !== undefined && since !== undefined) reject('since', 'goes without an ORDER');
          if (until !== undefined && since === undefined) reject('until', 'needs --since');
        }),
      run: ({ database }: Site, { ORDER = '', since, until = new Date() }) =>
        since === undefined
          ? rechargeOrder(database, ORDER)
          : rechargeOrders(database, rechargeOrderOn(database), { since, until }),
    }),
    'payments reconcile': operatorCommand({
      flags: { since: 'text', until: 'text' },
      arguments: z.object({ since: momentArgument.optional(), until: momentArgument.optional() }),
      run: ({ database }: Site, { since, until = new Date() }) => {
        const from = since ?? new Date(until.getTime() - dayMs);
        return reconcile(database, { from, to: until });
      },
    }),
    'order redact': operatorCommand({
      operands: ['ORDER'],
      arguments: z.object({ ORDER: z.string('is missing') }),
      run: async ({ database }: Site, { ORDER }) => ({
        order: ORDER,
        ...(await redactOrder(database, ORDER)),
      }),
    }),
    'orders republish': operatorCommand({
      arguments: z.object({}),
      run: ({ database, settings }: Site) =>
        tellAgain(settings, 'creator-api.replay', ordersAgain(database, systemClock)),
    }),
    'catalogue load': loading(catalogueFile, async (database, file) => {
      await loadCatalogue(database, file);
      return { releases: file.releases.length, product_types: file.product_types.length };
    }),
    'shipping load': loading(shippingFile, async (database, file) => {
      await loadShipping(database, file);
      return { services: file.services.length, zones: Object.keys(file.zones).length };
    }),
  },
});
