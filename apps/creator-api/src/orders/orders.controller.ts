import { type Caller, Principal, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ListOrders } from './list-orders.js';
import { OrderPath, OrdersQuery } from './orders.dto.js';
import { ReadOrder } from './read-order.js';

@Controller('api/v1/orders')
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly readOrder: ReadOrder,
  ) {}

  @Get()
  @Scopes()
  list(@Principal() who: Caller, @Query() query: OrdersQuery) {
    return this.listOrders.run(who, query);
  }

  @Get(':uuid')
  @Scopes()
  read(@Principal() who: Caller, @Param() { uuid }: OrderPath) {
    return this.readOrder.run(who, uuid);
  }
}
