import { startApi } from '@fulfilment/http-service';
import { readConfig, systemClock } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { creatorApiSettings } from './config.js';
import { CreatorApiModule } from './creator-api.module.js';
import { factsConsumer } from './facts.consumer.js';
import { migrations } from './migrations/index.js';
import { keepBooking } from './statistics/keep-booking.js';

const config = readConfig(creatorApiSettings);
const service = openService({ name: 'creator-api', settings: config, migrations });
const { database, messaging, logger } = service;
const waitingBookings = keepBooking(database, logger);
messaging.consume(factsConsumer(() => waitingBookings.wake()));
const app = await startApi({
  ...service,
  settings: config,
  api: 'creator',
  resourceName: 'Creator API',
  scopes: [],
  module: CreatorApiModule.with({ database, outbox: messaging.outbox, clock: systemClock }),
});
await service.run(app, (shutdown) => {
  waitingBookings.start();
  shutdown.add('waiting bookings', () => waitingBookings.stop());
});
