import { Description } from '@fulfilment/api-reference';
import { IntegerField, ObjectList, TextField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';
import { TwoLetterField } from './country-code.js';

export class QuoteItemDto {
  @Description('The product: the `id` of one of the `products` of a release')
  @TextField({ max: 255 })
  sku: string;

  @Description('Number of pieces; the same maximum as for a line of an order')
  @IntegerField(1, 1000)
  quantity: number;
}

export class QuoteRatesDto {
  @Description('Destination country, ISO 3166-1 alpha-2, in upper or lower case')
  @TwoLetterField() // for a country that no service reaches, there are no rates
  country_code: string;

  @Description('Products to ship; without items, the lightest parcel is quoted')
  @IsOptional()
  @ObjectList(() => QuoteItemDto, { max: 100 })
  items?: QuoteItemDto[];
}
