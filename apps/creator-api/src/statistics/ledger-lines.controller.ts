import { Operation } from '@fulfilment/api-reference';
import { AnyToken, type Caller, CurrentCaller, RateLimit } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ExactIntegers } from './exact-integers.interceptor.js';
import { LedgerLinesQuery } from './ledger-lines.dto.js';
import { CreatorPath } from '../creators/creator-path.dto.js';
import { ReadLedgerLines } from './read-ledger-lines.js';
import * as reference from './statistics.reference.js';

@Controller('api/v1/creators/:uuid/ledger')
export class LedgerLinesController {
  constructor(private readonly ledgerLines: ReadLedgerLines) {}

  @Get()
  @AnyToken()
  @RateLimit('stats')
  @ExactIntegers()
  @Operation(reference.readLedgerLines)
  read(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() query: LedgerLinesQuery) {
    return this.ledgerLines.run(caller, uuid, query);
  }
}
