import { ConnectedAppsModule } from './connected-apps/connected-apps.module.js';
import { ConsumersModule } from './consumers/consumers.module.js';
import { CreatorsModule } from './creators/creators.module.js';
import { ExchangeRatesModule } from './exchange-rates/exchange-rates.module.js';
import { OrderStreamModule } from './order-stream/order-stream.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { ReleasesModule } from './releases/releases.module.js';
import { StatementsModule } from './statements/statements.module.js';
import { StatisticsModule } from './statistics/statistics.module.js';
import { TrackUploadsModule } from './track-uploads/track-uploads.module.js';

/** The feature modules. The API reference describes the routes of their controllers, in this order. */
export const features = [
  CreatorsModule,
  OrdersModule,
  OrderStreamModule,
  StatisticsModule,
  ConnectedAppsModule,
  StatementsModule,
  ReleasesModule,
  TrackUploadsModule,
  ConsumersModule,
  ExchangeRatesModule,
];
