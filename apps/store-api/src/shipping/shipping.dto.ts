import { currencies, type Currency } from '@fulfilment/contracts';
import { IntegerField, ObjectList, TextField } from '@fulfilment/http-service';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional, Matches } from 'class-validator';

export class CurrencyDto {
  @IsOptional() @IsIn(currencies) currency: Currency = 'GBP';
}

export class QuoteItemDto {
  @TextField({ most: 255 }) sku: string;
  @IntegerField(1, Number.MAX_SAFE_INTEGER) quantity: number;
}

export class QuoteRatesDto {
  @Matches(/^[A-Z]{2}$/, { message: 'must be two ASCII letters' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  country_code: string;

  @IsOptional() @ObjectList(() => QuoteItemDto, { most: 100 }) items?: QuoteItemDto[];
}
