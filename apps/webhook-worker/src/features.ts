import { BulkUpdatesModule } from './bulk-updates/bulk-updates.module.js';
import { DeliveryModule } from './delivery/delivery.module.js';
import { FanOutModule } from './fan-out/fan-out.module.js';
import { FeedModule } from './feed/feed.module.js';
import { HistoryModule } from './history/history.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';

/** The feature modules. The API reference describes the routes of their controllers, in this order. */
export const features = [
  SubscriptionsModule,
  HistoryModule,
  FeedModule,
  FanOutModule,
  DeliveryModule,
  BulkUpdatesModule,
];
