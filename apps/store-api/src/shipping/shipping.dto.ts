import { currencies, type Currency } from '@fulfilment/contracts';
import { IntegerField, TextField } from '@fulfilment/http-service';
import { Transform, Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, Matches, ValidateNested } from 'class-validator';

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

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @ValidateNested({ each: true })
  @Type(() => QuoteItemDto)
  items?: QuoteItemDto[];
}
