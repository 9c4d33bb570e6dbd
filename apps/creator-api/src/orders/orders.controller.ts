import { Operation } from '@fulfilment/api-reference';
import { type Caller, CurrentCaller, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ListOrders } from './list-orders.js';
import { OrderPath, OrdersQuery } from './orders.dto.js';
import * as reference from './orders.reference.js';
import { ReadOrder } from './read-order.js';

@Controller('api/v1/orders')
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly readOrder: ReadOrder,
  ) {}

  @Get()
  @Scopes()
  @Operation(reference.listOrders)
  list(@CurrentCaller() caller: Caller, @Query() query: OrdersQuery) {
    return this.listOrders.run(caller, query);
  }

  @Get(':uuid')
  @Scopes()
  @Operation(reference.readOrder)
  read(@CurrentCaller() caller: Caller, @Param() { uuid }: OrderPath) {
    return this.readOrder.run(caller, uuid);
  }
}
