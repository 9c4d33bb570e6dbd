import { Description } from '@fulfilment/api-reference';
import { UuidField } from '@fulfilment/http-service';
import { creatorExample } from './creator.shapes.js';

export class CreatorPath {
  @Description('The creator', creatorExample.uuid) @UuidField() uuid: string;
}
