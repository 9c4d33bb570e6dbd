import { Operation } from '@fulfilment/api-reference';
import type { CursorPage } from '@fulfilment/contracts';
import {
  BodyLimit,
  ConcurrencyLimit,
  type ResponseWithHeaders,
  type Caller,
  CurrentCaller,
  IdempotencyKey,
  Scopes,
} from '@fulfilment/http-service';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ListDeliveriesDto, ReadHealthDto, RecoverDeliveriesDto, SendTestEventDto } from './delivery.dto.js';
import type { DeliveryDetail, DeliveryView, Recovery } from './delivery.shapes.js';
import type { HealthView } from './health.shapes.js';
import * as reference from './history.reference.js';
import { ReadDeliveries } from './read-deliveries.js';
import { ReadHealth } from './read-health.js';
import { RecoverDeliveries } from './owner-requests/recover-deliveries.js';
import { RetryDelivery } from './owner-requests/retry-delivery.js';
import { SendTestEvent } from './owner-requests/send-test-event.js';

@Controller('v1/webhooks/:id')
@BodyLimit(8 * 1024)
export class DeliveriesController {
  constructor(
    private readonly readDeliveries: ReadDeliveries,
    private readonly readHealth: ReadHealth,
    private readonly retryDelivery: RetryDelivery,
    private readonly recoverDeliveries: RecoverDeliveries,
    private readonly sendTestEvent: SendTestEvent,
  ) {}

  @Get('health')
  @Scopes('webhooks:read')
  @Operation(reference.readHealth)
  health(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { hours }: ReadHealthDto,
  ): Promise<HealthView> {
    return this.readHealth.run(caller, id, hours);
  }

  @Get('deliveries')
  @Scopes('webhooks:read')
  @Operation(reference.listDeliveries)
  list(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: ListDeliveriesDto,
  ): Promise<CursorPage<DeliveryView>> {
    return this.readDeliveries.list(caller, id, query);
  }

  @Get('deliveries/:delivery_id')
  @Scopes('webhooks:read')
  @ConcurrencyLimit({ maxConcurrent: 12 }) // together below 48 MiB: each is below 4 MiB (history.rules.ts)
  @Operation(reference.readDelivery)
  findOne(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('delivery_id') deliveryId: string,
  ): Promise<DeliveryDetail> {
    return this.readDeliveries.findOne(caller, id, deliveryId);
  }

  @Post('deliveries/:delivery_id/retry')
  @HttpCode(202)
  @Scopes('webhooks:update')
  @Operation(reference.retryDelivery)
  retry(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('delivery_id') deliveryId: string,
    @IdempotencyKey() key: string | undefined,
  ): Promise<ResponseWithHeaders<DeliveryView>> {
    return this.retryDelivery.run(caller, id, deliveryId, key);
  }

  @Post('recover')
  @HttpCode(202)
  @Scopes('webhooks:update')
  @Operation(reference.recoverDeliveries)
  recover(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: RecoverDeliveriesDto,
    @IdempotencyKey() key: string | undefined,
  ): Promise<ResponseWithHeaders<Recovery>> {
    return this.recoverDeliveries.run(caller, id, input, key);
  }

  @Post('test')
  @HttpCode(202)
  @Scopes('webhooks:update')
  @Operation(reference.sendTestEvent)
  test(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: SendTestEventDto,
    @IdempotencyKey() key: string | undefined,
  ): Promise<ResponseWithHeaders<DeliveryView>> {
    return this.sendTestEvent.run(caller, id, input, key);
  }
}
