import { Description } from '@fulfilment/api-reference';
import { UuidField } from '@fulfilment/http-service';
import { creatorExample } from '../creators/creator.shapes.js';

export class OrderStreamQuery {
  @Description('The creator whose new orders are streamed', creatorExample.uuid) @UuidField() creator: string;
}
