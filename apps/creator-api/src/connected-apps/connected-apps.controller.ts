import { Operation } from '@fulfilment/api-reference';
import { NoScopes, type Caller, CurrentCaller, RateLimit, WithPathErrors } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ExactIntegers } from '../statistics/exact-integers.interceptor.js';
import { CreatorPath } from '../creators/creator-path.dto.js';
import { ConnectedAppsQuery } from './connected-apps.dto.js';
import * as reference from './connected-apps.reference.js';
import { ReadConnectedApps } from './read-connected-apps.js';

@Controller('api/v1/creators/:uuid/apps')
@NoScopes()
@RateLimit('stats')
export class ConnectedAppsController {
  constructor(private readonly connectedApps: ReadConnectedApps) {}

  @Get()
  @ExactIntegers()
  @WithPathErrors(CreatorPath)
  @Operation(reference.listConnectedApps)
  list(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() query: ConnectedAppsQuery) {
    return this.connectedApps.run(caller, uuid, query);
  }
}
