import { Operation } from '@fulfilment/api-reference';
import { NoScopes, BodyLimit, type Caller, IdempotencyKey, CurrentCaller } from '@fulfilment/http-service';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CreateRelease } from './create-release.js';
import { CreateReleaseDto } from './create-release.dto.js';
import { ReadReleases } from './read-releases.js';
import { ReleasesQuery, CreatedReleasePath } from './release.dto.js';
import * as reference from './releases.reference.js';

@Controller('api/v1/releases')
@NoScopes()
export class ReleasesController {
  constructor(
    private readonly createRelease: CreateRelease,
    private readonly readReleases: ReadReleases,
  ) {}

  @Get()
  @Operation(reference.listReleases)
  list(@CurrentCaller() caller: Caller, @Query() query: ReleasesQuery) {
    return this.readReleases.list(caller, query);
  }

  @Get(':id')
  @Operation(reference.readRelease)
  read(@CurrentCaller() caller: Caller, @Param() { id }: CreatedReleasePath) {
    return this.readReleases.read(caller, id);
  }

  @Post()
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
