import { Module } from '@nestjs/common';
import { FulfilmentModule } from '../fulfilment/fulfilment.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { ReportSimulatedEvent } from './report-simulated-event.js';
import { SimulatedWarehouse } from './simulated-warehouse.js';
import { TestOrdersController } from './test-orders.controller.js';

@Module({
  imports: [FulfilmentModule, OrdersModule],
  controllers: [TestOrdersController],
  providers: [ReportSimulatedEvent, SimulatedWarehouse],
})
export class TestModeModule {}
