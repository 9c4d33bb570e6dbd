import { Description } from '@fulfilment/api-reference';
import { NumberedPageDto, UuidField } from '@fulfilment/http-service';
import { creatorExample } from '../creators/creator.shapes.js';
import { releaseExample } from './release.shapes.js';

export class CreatedReleasePath {
  @Description('The release: the `id` of a created release', releaseExample.id) @UuidField() id: string;
}

export class ReleasesQuery extends NumberedPageDto {
  @Description('The creator whose releases are listed', creatorExample.uuid) @UuidField() creator: string;
}
