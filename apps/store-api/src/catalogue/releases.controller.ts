import { Operation } from '@fulfilment/api-reference';
import { type Caller, EntityTag, CurrentCaller, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrencyDto } from '../currency.dto.js';
import { ReadReleases } from './reading/read-releases.js';
import { ListReleasesDto } from './releases.dto.js';
import * as reference from './releases.reference.js';

@Controller('v1/releases')
@Scopes('releases:read')
export class ReleasesController {
  constructor(private readonly readReleases: ReadReleases) {}

  @Get()
  @EntityTag()
  @Operation(reference.listReleases)
  list(@CurrentCaller() caller: Caller, @Query() query: ListReleasesDto) {
    return this.readReleases.list(caller, query);
  }

  @Get(':id')
  @EntityTag()
  @Operation(reference.readRelease)
  read(@CurrentCaller() caller: Caller, @Param('id') id: string, @Query() { currency }: CurrencyDto) {
    return this.readReleases.read(caller, id, currency);
  }
}
