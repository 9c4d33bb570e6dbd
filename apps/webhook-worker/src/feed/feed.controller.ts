import { Operation } from '@fulfilment/api-reference';
import { type Caller, CurrentCaller, Disconnect, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Query } from '@nestjs/common';
import { EventsQuery } from './feed.dto.js';
import * as reference from './feed.reference.js';
import type { FeedPage } from './feed.shapes.js';
import { ReadEvents } from './read-events.js';

@Controller('v1/events')
export class FeedController {
  constructor(private readonly readEvents: ReadEvents) {}

  @Get()
  @Scopes('webhooks:read')
  @Operation(reference.readEvents)
  read(
    @CurrentCaller() caller: Caller,
    @Query() query: EventsQuery,
    @Disconnect() disconnect: AbortSignal,
  ): Promise<FeedPage> {
    return this.readEvents.run(caller, query, disconnect);
  }
}
