import { ReleasesController } from './catalogue/releases.controller.js';
import { CreatorController } from './connected-creator/creator.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { ShippingController } from './shipping/shipping.controller.js';

/** Every controller of the service: what it serves, and what the reference tells of. */
export const controllers = [OrdersController, ReleasesController, ShippingController, CreatorController];
