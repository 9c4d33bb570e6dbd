import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { Module } from '@nestjs/common';
import { OrderStreamController } from './order-stream.controller.js';
import { ActiveStreams } from './active-streams.job.js';
import { OrderFeeds } from './order-feeds.js';
import { StreamOrders } from './stream-orders.js';

@Module({
  controllers: [OrderStreamController],
  providers: [
    ActiveStreams,
    StreamOrders,
    {
      provide: OrderFeeds,
      inject: [BACKGROUND_DATABASE],
      useFactory: (database: Database) => new OrderFeeds(database),
    },
  ],
})
export class OrderStreamModule {}
