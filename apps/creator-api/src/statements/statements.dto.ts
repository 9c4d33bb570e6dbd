import { Description } from '@fulfilment/api-reference';
import { IntegerParameter } from '@fulfilment/http-service';
import { CreatorPath } from '../creators/creator-path.dto.js';

export class StatementPath extends CreatorPath {
  @Description('The number of the statement', 7) @IntegerParameter(1, 1_000_000) number: number;
}
