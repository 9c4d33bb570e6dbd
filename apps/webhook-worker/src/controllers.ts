import { DeliveriesController } from './history/deliveries.controller.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';

/** All controllers of the service, for the application and for the API reference. */
export const controllers = [SubscriptionsController, DeliveriesController];
