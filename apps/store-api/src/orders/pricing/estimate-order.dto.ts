import { Description } from '@fulfilment/api-reference';
import { ObjectField, ObjectList, TextField } from '@fulfilment/http-service';
import { CountryCodeField } from '../../shipping/country-code.js';
import { QuoteItemDto } from '../../shipping/shipping.dto.js';

class DestinationDto {
  @Description('Officially assigned ISO 3166-1 alpha-2 code, in upper or lower case')
  @CountryCodeField()
  country_code: string;
}

export class EstimateOrderDto {
  @Description('Products to order')
  @ObjectList(() => QuoteItemDto, { min: 1, max: 100 })
  items: QuoteItemDto[];

  @Description('Where to ship the order')
  @ObjectField(() => DestinationDto)
  shipping_address: DestinationDto;

  @Description('The `id` of a shipping rate that was quoted for this country within the last 24 hours')
  @TextField({ max: 255 })
  shipping_rate_id: string;
}
