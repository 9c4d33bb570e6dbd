import { storeScopes } from '@fulfilment/contracts';
import { startApi } from '@fulfilment/http-service';
import { readConfig } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { relaxedStoreSettings, storeApiSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { HoldReports } from './orders/hold-reports.js';
import { RefundCharges } from './orders/refund-charges.js';
import { ResumeOrders } from './orders/resume-orders.js';
import { DailyReconciliation } from './payments/daily-reconciliation.js';
import { PaymentGateway } from './payments/payment-gateway.js';
import { referenceDocument } from './reference-document.js';
import { StoreApiModule } from './store-api.module.js';
import { Upkeep } from './upkeep.js';

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
  reference: referenceDocument,
  module: StoreApiModule.with({ config, ...service }),
});
const resumeOrders = app.get(ResumeOrders);
const refundCharges = app.get(RefundCharges);
const upkeep = app.get(Upkeep);
const reconciliation = app.get(DailyReconciliation);
const holdReports = app.get(HoldReports);
await service.run(app, (shutdown) => {
  holdReports.start();
  upkeep.start();
  reconciliation.start();
  shutdown.add('reconciliation', () => reconciliation.stop());
  shutdown.add('upkeep', () => upkeep.stop());
  shutdown.add('held reports', () => holdReports.stop());
});
// Not waited for: orders are placed as pending while the provider is away or rejects the key.
void app
  .get(PaymentGateway)
  .checkKey()
  .catch((error: unknown) => {
    service.logger.error({ error }, 'The payment provider does not take our key yet; orders stay pending.');
  });
// Started last, so that they stop first: while the port closes, nothing more is taken up that waits for the payment provider.
resumeOrders.start();
refundCharges.start();
service.shutdown.add('charges and refunds', () => Promise.all([resumeOrders.stop(), refundCharges.stop()]));
