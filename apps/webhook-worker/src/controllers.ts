import { DeliveriesController } from './history/deliveries.controller.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';

/** Every controller of the service: what it serves, and what the reference tells of. */
export const controllers = [SubscriptionsController, DeliveriesController];
