import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module.js';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { ShippingModule } from '../shipping/shipping.module.js';
import { CancelLockedOrder } from './cancel-locked-order.js';
import { CancelOrder } from './cancel-order.js';
import { EstimateOrder } from './estimate-order.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { OrdersController } from './orders.controller.js';
import { PlaceOrder } from './place-order.js';
import { PriceOrder } from './price-order.js';
import { ReadPricing } from './read-pricing.js';
import { ReadOrders } from './read-orders.js';
import { OrderCompleter } from './order-completer.js';
import { SettleOrder } from './settle-order.js';
import { WriteOrder } from './write-order.js';

@Module({
  imports: [BillingModule, CatalogueModule, ShippingModule],
  controllers: [OrdersController],
  providers: [
    CancelLockedOrder,
    CancelOrder,
    EstimateOrder,
    IdempotencyKeys,
    PlaceOrder,
    PriceOrder,
    ReadOrders,
    ReadPricing,
    OrderCompleter,
    SettleOrder,
    WriteOrder,
  ],
  exports: [CancelLockedOrder, IdempotencyKeys, ReadOrders],
})
export class OrdersModule {}
