import { ReleasesController } from './catalogue/releases.controller.js';
import { CreatorController } from './connected-creator/creator.controller.js';
import { OrdersController } from './orders/orders.controller.js';
import { ShippingController } from './shipping/shipping.controller.js';

/** Every controller of the service; the API reference describes the same ones. */
export const controllers = [OrdersController, ReleasesController, ShippingController, CreatorController];
