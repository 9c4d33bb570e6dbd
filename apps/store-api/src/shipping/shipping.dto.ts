import { Description, Field } from '@fulfilment/api-reference';
import { currencies, type Currency } from '@fulfilment/contracts';
import { IntegerField, ObjectList, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { UpperCaseCode } from '../orders/country-code.js';

export class CurrencyDto {
  @Description('Of the prices') @IsOptional() @IsIn(currencies) currency: Currency = 'GBP';
}

export class QuoteItemDto {
  @Description("The product to send: the `id` of one of a release's `products`")
  @TextField({ max: 255 })
  sku: string;

  @Description('Pieces, as many as a line of an order may have') @IntegerField(1, 1000) quantity: number;
}

/** Use with `UpperCaseCode`. Any two letters are valid: a country that no service reaches has no rates. */
const twoLetters = Field({
  name: 'twoLetters',
  schema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  holds: (value) => typeof value === 'string' && /^[A-Z]{2}$/.test(value),
  reason: () => 'must be two ASCII letters',
});

export class QuoteRatesDto {
  @Description('Where to send it, ISO 3166-1 alpha-2; lower case is taken too')
  @UpperCaseCode()
  @twoLetters
  country_code: string;

  @Description('What to send. Without any, the lightest parcel is quoted')
  @IsOptional()
  @ObjectList(() => QuoteItemDto, { max: 100 })
  items?: QuoteItemDto[];
}
