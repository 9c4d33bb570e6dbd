import { Operation } from '@fulfilment/api-reference';
import { type Caller, CurrentCaller, Scopes } from '@fulfilment/http-service';
import { Controller, Get } from '@nestjs/common';
import * as reference from './creator.reference.js';
import { ReadCreator } from './read-creator.js';

@Controller('v1/creator')
export class CreatorController {
  constructor(private readonly readCreator: ReadCreator) {}

  @Get()
  @Scopes('creator:read')
  @Operation(reference.readCreator)
  read(@CurrentCaller() caller: Caller) {
    return this.readCreator.run(caller);
  }
}
