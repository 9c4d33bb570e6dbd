import { Operation } from '@fulfilment/api-reference';
import type { CursorPage } from '@fulfilment/contracts';
import { type Caller, CurrentCaller, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Query } from '@nestjs/common';
import { ListOrderDeliveriesDto } from './delivery.dto.js';
import type { OrderDeliveryView } from './delivery.shapes.js';
import * as reference from './history.reference.js';
import { ReadOrderDeliveries } from './read-order-deliveries.js';

@Controller('v1/webhook-deliveries')
export class OrderDeliveriesController {
  constructor(private readonly readOrderDeliveries: ReadOrderDeliveries) {}

  @Get()
  @Scopes('webhooks:read')
  @Operation(reference.listOrderDeliveries)
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: ListOrderDeliveriesDto,
  ): Promise<CursorPage<OrderDeliveryView>> {
    return this.readOrderDeliveries.run(caller, query);
  }
}
