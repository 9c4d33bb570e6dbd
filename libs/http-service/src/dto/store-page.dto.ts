import { Description } from '@fulfilment/api-reference';
import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';
import { TextField } from './texts.js';

/** Query parameters of the paged lists of the Store API. */
export class StorePageDto {
  @Description('Maximum number of items per page', 25)
  @IsOptional()
  @IntegerParameter(1, 100)
  limit: number = 25;

  @Description(
    'The `next_cursor` of the previous page. It is opaque, and valid only for the same list, filters and creator',
  )
  @IsOptional()
  @TextField({ max: 200 }) // cursors are shorter
  cursor?: string;
}
