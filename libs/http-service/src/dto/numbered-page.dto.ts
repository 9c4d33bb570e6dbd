import { Description } from '@fulfilment/api-reference';
import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';

/** Query parameters of all lists of the Creator API. */
export class NumberedPageDto {
  @Description('Which page, from 1', 1)
  @IsOptional()
  @IntegerParameter(1, 10_000)
  page: number = 1;

  @Description('How many a page holds at most', 25)
  @IsOptional()
  @IntegerParameter(1, 100)
  per_page: number = 25;
}
