import { PageNumber, PageSize } from '@fulfilment/http-service';
import { MonthRangeQuery } from '../statistics/statistics.dto.js';

/** Has the members of `NumberedPageDto` too, since a class cannot extend two. */
export class ConnectedAppsQuery extends MonthRangeQuery {
  @PageNumber() page: number = 1;
  @PageSize() per_page: number = 25;
}
