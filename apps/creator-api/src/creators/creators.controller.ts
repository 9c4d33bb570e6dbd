import { Operation } from '@fulfilment/api-reference';
import { NoScopes, type Caller, NumberedPageDto, CurrentCaller } from '@fulfilment/http-service';
import { Controller, Get, Query } from '@nestjs/common';
import * as reference from './creators.reference.js';
import { ListCreators } from './list-creators.js';

@Controller('api/v1/creators')
@NoScopes()
export class CreatorsController {
  constructor(private readonly creators: ListCreators) {}

  @Get()
  @Operation(reference.listCreators)
  list(@CurrentCaller() caller: Caller, @Query() query: NumberedPageDto) {
    return this.creators.run(caller, query);
  }
}
