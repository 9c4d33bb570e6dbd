import { Module } from '@nestjs/common';
import { FulfilmentModule } from '../fulfilment/fulfilment.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { ReportTestEvent } from './report-test-event.js';
import { SimulatedWarehouse } from './simulated-warehouse.js';
import { TestOrdersController } from './test-orders.controller.js';

@Module({
  imports: [FulfilmentModule, OrdersModule],
  controllers: [TestOrdersController],
  providers: [ReportTestEvent, SimulatedWarehouse],
})
export class TestModeModule {}
