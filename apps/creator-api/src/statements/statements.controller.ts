import { Operation } from '@fulfilment/api-reference';
import {
  NoScopes,
  type Caller,
  ConcurrencyLimit,
  CurrentCaller,
  NumberedPageDto,
  RateLimit,
  sendDownload,
  WithPathErrors,
} from '@fulfilment/http-service';
import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ExactIntegers } from '../statistics/exact-integers.interceptor.js';
import { CreatorPath } from '../creators/creator-path.dto.js';
import { ReadStatements } from './read-statements.js';
import { StatementPath } from './statements.dto.js';
import * as reference from './statements.reference.js';

/** Limits of each replica, since a download holds a connection of the pool for requests. */
const downloadLimits = { maxConcurrent: 2, maxPerTenant: 1 };

@Controller('api/v1/creators/:uuid/statements')
@NoScopes()
@RateLimit('stats')
export class StatementsController {
  constructor(private readonly statements: ReadStatements) {}

  @Get()
  @ExactIntegers()
  @WithPathErrors(CreatorPath)
  @Operation(reference.listStatements)
  list(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() query: NumberedPageDto) {
    return this.statements.list(caller, uuid, query);
  }

  @Get(':number')
  @ExactIntegers()
  @Operation(reference.readStatement)
  read(@CurrentCaller() caller: Caller, @Param() path: StatementPath) {
    return this.statements.read(caller, path);
  }

  @Get(':number/csv')
  @ConcurrencyLimit(downloadLimits)
  @Operation(reference.downloadStatement)
  async download(
    @CurrentCaller() caller: Caller,
    @Param() path: StatementPath,
    @Res() response: Response,
  ): Promise<void> {
    const { name, sha256, content } = await this.statements.download(caller, path);
    response.setHeader('Repr-Digest', `sha-256=:${sha256.toString('base64')}:`);
    await sendDownload(response, content, name);
  }
}
