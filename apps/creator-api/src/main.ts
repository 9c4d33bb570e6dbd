import { openGuardedClient, relaxedTargetSettings } from '@fulfilment/guarded-fetch';
import { startApi } from '@fulfilment/http-service';
import { readConfig, systemClock } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { creatorApiSettings } from './config.js';
import { CreatorApiModule } from './creator-api.module.js';
import { factsConsumer } from './facts.consumer.js';
import { keepDeleting } from './keep-deleting.js';
import { migrations } from './migrations/index.js';
import { referenceDocument } from './reference-document.js';
import { replayConsumer } from './replay.consumer.js';
import { WaitingBookings } from './statistics/book-waiting.js';
import { closeMonths } from './statistics/close-months.js';
import { keepBooking } from './statistics/keep-booking.js';
import { keepRates } from './statistics/keep-rates.js';
import { keepProcessing } from './track-uploads/keep-processing.js';
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
const waitingBookings = new WaitingBookings(background);
const booking = keepBooking(background, waitingBookings, config, logger);
const creatorsCame = (ids: readonly string[]): void => {
  waitingBookings.creatorsCame(ids);
  booking.wake();
};
messaging.consume(factsConsumer(creatorsCame));
messaging.consume(replayConsumer(creatorsCame));
const rates = keepRates({ database: background, config, client, logger }, () => {
  waitingBookings.ratesCame();
  booking.wake();
});
const parts = { config, database, outbox: messaging.outbox, client, uploadQueue, clock: systemClock };
const app = await startApi({
  ...service,
  settings: config,
  api: 'creator',
  resourceName: 'Creator API',
  scopes: [],
  reference: referenceDocument,
  module: CreatorApiModule.with(parts),
});
await service.run(app, async () => {
  await closeMonths(background, config.STATISTICS_CLOSE_DAY); // before the first message is posted
  booking.start();
  rates.start();
  keepProcessing({ ...parts, database: background, logger }, shutdown);
  const deleting = keepDeleting({ ...parts, database: background, logger });
  deleting.start();
  shutdown.add('old rows', () => deleting.stop());
  shutdown.add('exchange rates', () => rates.stop());
  shutdown.add('waiting bookings', () => booking.stop());
});
