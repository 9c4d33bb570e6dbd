import { Operation } from '@fulfilment/api-reference';
import {
  BodyLimit,
  type Caller,
  IdempotencyKey,
  CurrentCaller,
  RateLimit,
  Scopes,
  RetryOnlyWithKey,
} from '@fulfilment/http-service';
import { Body, Controller, Get, HttpCode, HttpStatus, Param, Post, Query } from '@nestjs/common';
import { CancelOrder } from './cancelling/cancel-order.js';
import { CancelOrderDto } from './cancelling/cancel-order.dto.js';
import { EstimateOrder } from './pricing/estimate-order.js';
import { EstimateOrderDto } from './pricing/estimate-order.dto.js';
import { ListOrdersDto } from './reading/list-orders.dto.js';
import * as reference from './orders.reference.js';
import { PlaceOrderDto } from './place-order.dto.js';
import { PlaceOrder } from './place-order.js';
import { ReadOrders } from './reading/read-orders.js';

@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly placeOrder: PlaceOrder,
    private readonly cancelOrder: CancelOrder,
    private readonly estimateOrder: EstimateOrder,
    private readonly readOrders: ReadOrders,
  ) {}

  @Post()
  @Scopes('orders:create')
  @RateLimit('orders-create')
  @BodyLimit(64 * 1024)
  @RetryOnlyWithKey()
  @Operation(reference.placeOrder)
  place(
    @CurrentCaller() caller: Caller,
    @Body() order: PlaceOrderDto,
    @IdempotencyKey() key: string | undefined,
  ) {
    return this.placeOrder.run(caller, order, key);
  }

  @Get()
  @Scopes('orders:read')
  @Operation(reference.listOrders)
  list(@CurrentCaller() caller: Caller, @Query() query: ListOrdersDto) {
    return this.readOrders.list(caller, query);
  }

  @Get(':id')
  @Scopes('orders:read')
  @Operation(reference.readOrder)
  read(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return this.readOrders.read(caller, id);
  }

  @Post('estimate')
  @HttpCode(HttpStatus.OK)
  @Scopes('orders:create')
  @RateLimit('quotes')
  @BodyLimit(64 * 1024)
  @Operation(reference.estimateOrder)
  estimate(@CurrentCaller() caller: Caller, @Body() order: EstimateOrderDto) {
    return this.estimateOrder.run(caller, order);
  }

  @Post(':id/cancel')
  @HttpCode(HttpStatus.OK)
  @Scopes('orders:cancel')
  @BodyLimit(4 * 1024)
  @Operation(reference.cancelOrder)
  cancel(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() cancellation: CancelOrderDto,
    @IdempotencyKey() key: string | undefined,
  ) {
    return this.cancelOrder.run(caller, id, cancellation, key);
  }
}
