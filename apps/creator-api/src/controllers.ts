import { CreatorsController } from './creators/creators.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { ReleasesController } from './releases/releases.controller.js';
import { StatisticsController } from './statistics/statistics.controller.js';
import { TrackUploadsController } from './track-uploads/track-uploads.controller.js';

/** Every controller of the service, for the Nest module and for the API reference. */
export const controllers = [
  CreatorsController,
  OrdersController,
  StatisticsController,
  ReleasesController,
  TrackUploadsController,
];
