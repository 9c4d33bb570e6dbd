import { Operation } from '@fulfilment/api-reference';
import {
  BodyCheckedBy,
  BodyLimit,
  type Answer,
  type Caller,
  IdempotencyKey,
  Principal,
  Scopes,
} from '@fulfilment/http-service';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { CheckTarget } from './check-target.js';
import { CreateSubscription } from './create-subscription.js';
import { DeleteSubscription } from './delete-subscription.js';
import { ReadSubscriptions } from './read-subscriptions.js';
import { CreateSubscriptionDto, UpdateSubscriptionDto } from './subscription.dto.js';
import type { SubscriptionView } from './subscription.shapes.js';
import * as reference from './subscriptions.reference.js';
import { UpdateSubscription } from './update-subscription.js';

@Controller('v1/webhooks')
@BodyLimit(8 * 1024)
export class SubscriptionsController {
  constructor(
    private readonly createSubscription: CreateSubscription,
    private readonly readSubscriptions: ReadSubscriptions,
    private readonly updateSubscription: UpdateSubscription,
    private readonly deleteSubscription: DeleteSubscription,
  ) {}

  @Post()
  @BodyCheckedBy(CheckTarget)
  @Scopes('webhooks:create')
  @Operation(reference.createSubscription)
  create(
    @Principal() who: Caller,
    @Body() wish: CreateSubscriptionDto,
    @IdempotencyKey() key: string | undefined,
  ): Promise<Answer<SubscriptionView>> {
    return this.createSubscription.run(who, wish, key);
  }

  @Get()
  @Scopes('webhooks:read')
  @Operation(reference.listSubscriptions)
  list(@Principal() who: Caller): Promise<{ data: SubscriptionView[] }> {
    return this.readSubscriptions.list(who);
  }

  @Get(':id')
  @Scopes('webhooks:read')
  @Operation(reference.readSubscription)
  one(@Principal() who: Caller, @Param('id') id: string): Promise<SubscriptionView> {
    return this.readSubscriptions.one(who, id);
  }

  @Patch(':id')
  @BodyCheckedBy(CheckTarget)
  @Scopes('webhooks:update')
  @Operation(reference.updateSubscription)
  update(
    @Principal() who: Caller,
    @Param('id') id: string,
    @Body() wish: UpdateSubscriptionDto,
  ): Promise<SubscriptionView> {
    return this.updateSubscription.run(who, id, wish);
  }

  @Delete(':id')
  @HttpCode(204)
  @Scopes('webhooks:delete')
  @Operation(reference.deleteSubscription)
  remove(@Principal() who: Caller, @Param('id') id: string): Promise<void> {
    return this.deleteSubscription.run(who, id);
  }
}
