import { CatalogueModule } from './catalogue/catalogue.module.js';
import { ConnectedCreatorModule } from './connected-creator/connected-creator.module.js';
import { FulfilmentModule } from './fulfilment/fulfilment.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { ShippingModule } from './shipping/shipping.module.js';
import { TestModeModule } from './test-mode/test-mode.module.js';

/** The feature modules. The API reference describes the routes of their controllers, in this order. */
export const features = [
  OrdersModule,
  CatalogueModule,
  ShippingModule,
  TestModeModule,
  ConnectedCreatorModule,
  FulfilmentModule,
];
