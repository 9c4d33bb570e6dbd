import { Module } from '@nestjs/common';
import { ExportOrders } from './export/export-orders.js';
import { ListOrders } from './list-orders.js';
import { OrdersController } from './orders.controller.js';
import { ReadOrder } from './read-order.js';
import { ReadTimeline } from './timeline/read-timeline.js';

@Module({ controllers: [OrdersController], providers: [ExportOrders, ListOrders, ReadOrder, ReadTimeline] })
export class OrdersModule {}
