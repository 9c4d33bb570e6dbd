import { Operation } from '@fulfilment/api-reference';
import {
  NoScopes,
  type Caller,
  ConcurrencyLimit,
  CurrentCaller,
  sendDownload,
} from '@fulfilment/http-service';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ExportOrders } from './export/export-orders.js';
import { ListOrders } from './list-orders.js';
import { OrderPath, OrdersFilter, OrdersQuery } from './orders.dto.js';
import * as reference from './orders.reference.js';
import { ReadOrder } from './read-order.js';
import { ReadTimeline } from './timeline/read-timeline.js';

/** Limits of each replica, since an export holds a connection of the pool for requests. */
const exportLimits = { maxConcurrent: 2, maxPerTenant: 1 };

@Controller('api/v1/orders')
@NoScopes()
export class OrdersController {
  constructor(
    private readonly listOrders: ListOrders,
    private readonly readOrder: ReadOrder,
    private readonly readTimeline: ReadTimeline,
    private readonly exportOrders: ExportOrders,
  ) {}

  @Get()
  @Operation(reference.listOrders)
  list(@CurrentCaller() caller: Caller, @Query() query: OrdersQuery) {
    return this.listOrders.run(caller, query);
  }

  @Get('export')
  @ConcurrencyLimit(exportLimits)
  @Operation(reference.exportOrders)
  async export(
    @CurrentCaller() caller: Caller,
    @Query() query: OrdersFilter,
    @Res() response: Response,
  ): Promise<void> {
    await sendDownload(response, await this.exportOrders.run(caller, query), 'orders.csv');
  }

  @Get(':uuid')
  @Operation(reference.readOrder)
  read(@CurrentCaller() caller: Caller, @Param() { uuid }: OrderPath) {
    return this.readOrder.run(caller, uuid);
  }

  @Get(':uuid/timeline')
  @Operation(reference.readTimeline)
  timeline(@CurrentCaller() caller: Caller, @Param() { uuid }: OrderPath) {
    return this.readTimeline.run(caller, uuid);
  }
}
