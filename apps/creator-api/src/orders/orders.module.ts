import { Module } from '@nestjs/common';
import { ListOrders } from './list-orders.js';
import { OrdersController } from './orders.controller.js';
import { ReadOrder } from './read-order.js';

@Module({ controllers: [OrdersController], providers: [ListOrders, ReadOrder] })
export class OrdersModule {}
