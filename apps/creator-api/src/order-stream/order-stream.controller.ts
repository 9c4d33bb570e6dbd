import { Operation } from '@fulfilment/api-reference';
import { NoScopes, type Caller, CurrentCaller, Disconnect, sendEvents } from '@fulfilment/http-service';
import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { OrderStreamQuery } from './order-stream.dto.js';
import * as reference from './order-stream.reference.js';
import { StreamOrders } from './stream-orders.js';

@Controller('api/v1/order-stream')
@NoScopes()
export class OrderStreamController {
  constructor(private readonly streamOrders: StreamOrders) {}

  @Get()
  @Operation(reference.streamOrders)
  async stream(
    @CurrentCaller() caller: Caller,
    @Query() { creator: creatorId }: OrderStreamQuery,
    @Headers('Last-Event-ID') lastEventId: string | undefined,
    @Disconnect() signal: AbortSignal,
    @Res() response: Response,
  ): Promise<void> {
    const events = await this.streamOrders.run({ caller, creatorId, lastEventId, signal });
    await sendEvents(response, events);
  }
}
