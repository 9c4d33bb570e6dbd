import { Description } from '@fulfilment/api-reference';
import { IntegerParameter } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';
import { MonthRangeQuery } from '../statistics/statistics.dto.js';

/** Repeats the members of `NumberedPageDto`, since a class cannot extend two. */
export class ConnectedAppsQuery extends MonthRangeQuery {
  @Description('Number of the page, from 1', 1)
  @IsOptional()
  @IntegerParameter(1, 10_000)
  page: number = 1;

  @Description('Maximum number of items per page', 25)
  @IsOptional()
  @IntegerParameter(1, 100)
  per_page: number = 25;
}
