import { Operation } from '@fulfilment/api-reference';
import { BodyLimit, type Caller, IdempotencyKey, CurrentCaller, Scopes } from '@fulfilment/http-service';
import { Body, Controller, Post } from '@nestjs/common';
import { CreateRelease } from './create-release.js';
import { CreateReleaseDto } from './create-release.dto.js';
import * as reference from './releases.reference.js';

@Controller('api/v1/releases')
export class ReleasesController {
  constructor(private readonly createRelease: CreateRelease) {}

  @Post()
  @Scopes()
  @BodyLimit(4 * 1024)
  @Operation(reference.createRelease)
  create(
    @CurrentCaller() caller: Caller,
    @Body() release: CreateReleaseDto,
    @IdempotencyKey() key: string | undefined,
  ) {
    return this.createRelease.run(caller, release, key);
  }
}
