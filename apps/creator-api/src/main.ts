import { openGuardedClient, relaxedTargetSettings } from '@fulfilment/guarded-fetch';
import { startApi } from '@fulfilment/http-service';
import { readConfig, systemClock } from '@fulfilment/runtime';
import { openService, startCleanup } from '@fulfilment/service-host';
import { creatorApiSettings } from './config.js';
import { CreatorApiModule } from './creator-api.module.js';
import { factsConsumer } from './consumers/facts.consumer.js';
import { cleanupJobs } from './cleanup-jobs.js';
import { migrations } from './migrations/index.js';
import { replayConsumer } from './consumers/replay.consumer.js';
import { WaitingOrders } from './ledger/post-waiting-orders.js';
import { closeMonths } from './ledger/close-months.js';
import { ledgerPostingJob } from './ledger/ledger-posting.job.js';
import { exchangeRatesJob } from './exchange-rates/exchange-rates.job.js';
import { startUploadProcessing } from './track-uploads/start-upload-processing.js';
import { UploadQueue } from './track-uploads/upload-queue.js';

const config = readConfig(creatorApiSettings);
const service = openService({
  name: 'creator-api',
  settings: config,
  migrations,
  relaxed: relaxedTargetSettings(config),
});
const { database, background, messaging, logger, shutdown } = service;
const client = openGuardedClient(config);
shutdown.add('outbound connections', () => client.close());
const uploadQueue = new UploadQueue(config, logger);
shutdown.add('queue of track uploads', () => uploadQueue.stop());
const waitingOrders = new WaitingOrders(background);
const ledgerPosting = ledgerPostingJob(background, waitingOrders, config, logger);
const creatorsChanged = (ids: readonly string[]): void => {
  waitingOrders.creatorsChanged(ids);
  ledgerPosting.wake();
};
messaging.consume(factsConsumer(creatorsChanged));
messaging.consume(replayConsumer(creatorsChanged));
const rates = exchangeRatesJob({ database: background, config, client, logger }, () => {
  waitingOrders.ratesLoaded();
  ledgerPosting.wake();
});
const parts = { config, database, outbox: messaging.outbox, client, uploadQueue, clock: systemClock };
const app = await startApi({
  ...service,
  settings: config,
  api: 'creator',
  resourceName: 'Creator API',
  scopes: [],
  servesReference: true,
  module: CreatorApiModule.with(parts),
});
await service.run(app, async () => {
  await closeMonths(background, config.STATISTICS_CLOSE_DAY); // before the first message is posted
  ledgerPosting.start();
  rates.start();
  startUploadProcessing({ ...parts, database: background, logger }, shutdown);
  startCleanup(cleanupJobs(background, config, systemClock), logger, shutdown);
  shutdown.add('exchange rates', () => rates.stop());
  shutdown.add('waiting bookings', () => ledgerPosting.stop());
});
