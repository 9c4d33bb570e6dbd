import { Operation } from '@fulfilment/api-reference';
import { BodyLimit, type Caller, CurrentCaller, RateLimit, Scopes } from '@fulfilment/http-service';
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { CurrencyDto } from '../currency.dto.js';
import { QuoteRates } from './quote-rates.js';
import { ReadServices } from './read-services.js';
import { QuoteRatesDto } from './shipping.dto.js';
import * as reference from './shipping.reference.js';

@Controller('v1')
export class ShippingController {
  constructor(
    private readonly quoteRates: QuoteRates,
    private readonly readServices: ReadServices,
  ) {}

  @Post('shipping-rates')
  @HttpCode(200)
  @Scopes('shipping:read')
  @RateLimit('quotes')
  @BodyLimit(64 * 1024)
  @Operation(reference.quoteRates)
  quote(@CurrentCaller() caller: Caller, @Body() parcel: QuoteRatesDto, @Query() { currency }: CurrencyDto) {
    return this.quoteRates.run(caller, parcel, currency);
  }

  @Get('shipping-services')
  @Scopes('shipping:read')
  @Operation(reference.listServices)
  listServices() {
    return this.readServices.run();
  }
}
