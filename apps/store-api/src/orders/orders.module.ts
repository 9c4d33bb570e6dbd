import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module.js';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { ShippingModule } from '../shipping/shipping.module.js';
import { CancelLockedOrder } from './cancelling/cancel-locked-order.js';
import { CancelOrder } from './cancelling/cancel-order.js';
import { EstimateOrder } from './pricing/estimate-order.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { OrdersController } from './orders.controller.js';
import { PlaceOrder } from './place-order.js';
import { PriceOrder } from './pricing/price-order.js';
import { ReadPricing } from './pricing/read-pricing.js';
import { ReadOrders } from './reading/read-orders.js';
import { OrderCompleter } from './settling/order-completer.js';
import { SettleOrder } from './settling/settle-order.js';
import { SettleUnchanged } from './settling/settle-unchanged.js';
import { WriteOrder } from './placing/write-order.js';

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
    SettleUnchanged,
    WriteOrder,
  ],
  exports: [CancelLockedOrder, IdempotencyKeys, ReadOrders],
})
export class OrdersModule {}
