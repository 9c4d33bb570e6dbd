import { Module } from '@nestjs/common';
import { OrderStreamController } from './order-stream.controller.js';
import { OrderStreams } from './order-streams.job.js';
import { StreamOrders } from './stream-orders.js';

@Module({ controllers: [OrderStreamController], providers: [OrderStreams, StreamOrders] })
export class OrderStreamModule {}
