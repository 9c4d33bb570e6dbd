import { Operation } from '@fulfilment/api-reference';
import {
  BodyCheckedBy,
  BodyLimit,
  type ResponseWithHeaders,
  type Caller,
  IdempotencyKey,
  CurrentCaller,
  Public,
  Scopes,
} from '@fulfilment/http-service';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CheckSubscription } from './check-subscription.js';
import { CreateSubscription } from './create-subscription.js';
import { DeleteSubscription } from './delete-subscription.js';
import { ReadPublicKeys } from './keys/read-public-keys.js';
import { ReadSubscriptions } from './read-subscriptions.js';
import { CreateSubscriptionDto, ListSubscriptionsDto, UpdateSubscriptionDto } from './subscription.dto.js';
import type { PublicKey, SubscriptionView } from './subscription.shapes.js';
import * as reference from './subscriptions.reference.js';
import { UpdateSubscription } from './update-subscription.js';

@Controller('v1/webhooks')
@BodyLimit(8 * 1024)
export class SubscriptionsController {
  constructor(
    private readonly createSubscription: CreateSubscription,
    private readonly readSubscriptions: ReadSubscriptions,
    private readonly readPublicKeys: ReadPublicKeys,
    private readonly updateSubscription: UpdateSubscription,
    private readonly deleteSubscription: DeleteSubscription,
  ) {}

  @Post()
  @BodyCheckedBy(CheckSubscription)
  @Scopes('webhooks:create')
  @Operation(reference.createSubscription)
  create(
    @CurrentCaller() caller: Caller,
    @Body() input: CreateSubscriptionDto,
    @IdempotencyKey() key: string | undefined,
  ): Promise<ResponseWithHeaders<SubscriptionView>> {
    return this.createSubscription.run(caller, input, key);
  }

  @Get()
  @Scopes('webhooks:read')
  @Operation(reference.listSubscriptions)
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: ListSubscriptionsDto,
  ): Promise<{ data: SubscriptionView[] }> {
    return this.readSubscriptions.list(caller, query);
  }

  @Get(':id')
  @Scopes('webhooks:read')
  @Operation(reference.readSubscription)
  findOne(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<SubscriptionView> {
    return this.readSubscriptions.findOne(caller, id);
  }

  @Get(':id/jwks.json')
  @Public()
  @Operation(reference.readPublicKeys)
  findKeys(@Param('id') id: string): Promise<ResponseWithHeaders<{ keys: PublicKey[] }>> {
    return this.readPublicKeys.run(id);
  }

  @Patch(':id')
  @BodyCheckedBy(CheckSubscription)
  @Scopes('webhooks:update')
  @Operation(reference.updateSubscription)
  update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: UpdateSubscriptionDto,
  ): Promise<SubscriptionView> {
    return this.updateSubscription.run(caller, id, input);
  }

  @Delete(':id')
  @HttpCode(204)
  @Scopes('webhooks:delete')
  @Operation(reference.deleteSubscription)
  remove(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.deleteSubscription.run(caller, id);
  }
}
