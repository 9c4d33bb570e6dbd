import { Description } from '@fulfilment/api-reference';
import { currencies, type Currency } from '@fulfilment/contracts';
import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional } from 'class-validator';

export function CurrencyParameter(): PropertyDecorator {
  return applyDecorators(Description('Currency of the prices'), IsOptional(), IsIn(currencies));
}

export class CurrencyDto {
  @CurrencyParameter() currency: Currency = 'GBP';
}
