import { Module } from '@nestjs/common';
import { OrderStreamController } from './order-stream.controller.js';
import { ActiveStreams } from './active-streams.job.js';
import { StreamOrders } from './stream-orders.js';

@Module({ controllers: [OrderStreamController], providers: [ActiveStreams, StreamOrders] })
export class OrderStreamModule {}
