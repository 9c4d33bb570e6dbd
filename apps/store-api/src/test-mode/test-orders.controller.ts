import { Operation } from '@fulfilment/api-reference';
import { BodyLimit, type Caller, CurrentCaller, IdempotencyKey, Scopes } from '@fulfilment/http-service';
import { Body, Controller, HttpCode, HttpStatus, Param, Post } from '@nestjs/common';
import { ReportSimulatedEvent } from './report-simulated-event.js';
import { WarehouseEventDto } from './test-orders.dto.js';
import * as reference from './test-orders.reference.js';

@Controller('v1/test/orders')
export class TestOrdersController {
  constructor(private readonly reportSimulatedEvent: ReportSimulatedEvent) {}

  @Post(':id/events')
  @HttpCode(HttpStatus.OK)
  @Scopes('orders:create')
  @BodyLimit(4 * 1024)
  @Operation(reference.reportTestEvent)
  report(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() { event }: WarehouseEventDto,
    @IdempotencyKey() key: string | undefined,
  ) {
    return this.reportSimulatedEvent.run(caller, id, event, key);
  }
}
