import { storeScopes } from '@fulfilment/contracts';
import { startApi } from '@fulfilment/http-service';
import { readConfig } from '@fulfilment/runtime';
import { openService, startCleanup } from '@fulfilment/service-host';
import { relaxedStoreSettings, storeApiSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { DeferredEvents } from './fulfilment/deferred-events.js';
import { RefundCharges } from './billing/refund-charges.js';
import { ResumeOrders } from './orders/resume-orders.js';
import { DailyReconciliation } from './billing/daily-reconciliation.js';
import { PaymentGateway } from './payments/payment-gateway.js';
import { StoreApiModule } from './store-api.module.js';
import { cleanupJobs } from './cleanup-jobs.js';
import { measurements } from './measurements.js';
import { IdempotencyKeys } from './orders/idempotency-keys.js';

const config = readConfig(storeApiSettings);
const service = openService({
  name: 'store-api',
  settings: config,
  migrations,
  relaxed: relaxedStoreSettings(config),
});
const app = await startApi({
  ...service,
  settings: config,
  api: 'store',
  resourceName: 'Store API',
  scopes: Object.keys(storeScopes),
  servesReference: true,
  module: StoreApiModule.with({ config, ...service }),
});
const resumeOrders = app.get(ResumeOrders);
const refundCharges = app.get(RefundCharges);
const measuring = measurements(service.background, service.logger);
const reconciliation = app.get(DailyReconciliation);
const deferredEvents = app.get(DeferredEvents);
await service.run(app, (shutdown) => {
  deferredEvents.start();
  measuring.start();
  reconciliation.start();
  shutdown.add('reconciliation', () => reconciliation.stop());
  shutdown.add('measurements', () => measuring.stop());
  startCleanup(cleanupJobs(service.background, app.get(IdempotencyKeys), config), service.logger, shutdown);
  shutdown.add('deferred events', () => deferredEvents.stop());
});
// Not awaited: while the provider is away or rejects the key, orders are placed as pending.
void app
  .get(PaymentGateway)
  .checkKey()
  .catch((error: unknown) => {
    service.logger.error({ error }, 'The payment provider rejects our key; orders stay pending.');
  });
// Started last, so that they stop first: no charge starts while the HTTP port closes.
resumeOrders.start();
refundCharges.start();
service.shutdown.add('charges and refunds', () => Promise.all([resumeOrders.stop(), refundCharges.stop()]));
