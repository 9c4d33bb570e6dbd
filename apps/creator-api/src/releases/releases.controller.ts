import { type Caller, Principal, Scopes } from '@fulfilment/http-service';
import { Body, Controller, Post } from '@nestjs/common';
import { CreateRelease } from './create-release.js';
import { CreateReleaseDto } from './create-release.dto.js';

@Controller('api/v1/releases')
export class ReleasesController {
  constructor(private readonly createRelease: CreateRelease) {}

  @Post()
  @Scopes()
  create(@Principal() who: Caller, @Body() release: CreateReleaseDto) {
    return this.createRelease.run(who, release);
  }
}
