import { Description } from '@fulfilment/api-reference';
import { TextField, UuidField } from '@fulfilment/http-service';
import { registrationExample, trackUploadExample } from './track-upload.shapes.js';

export class ReleasePath {
  @Description(
    'The release: the `id` of a created release, or the `release_group` of an order line',
    trackUploadExample.release_id,
  )
  @UuidField()
  id: string;
}

export class TrackUploadPath {
  @Description('The track upload', registrationExample.id) @UuidField() id: string;
}

export class RegisterTrackUploadDto {
  @Description(
    'Your own id of the track. A second upload with the same id replaces the first',
    trackUploadExample.track_uuid,
  )
  @UuidField()
  track_uuid: string;

  @Description(
    'URL of the audio file: https, at a public Internet address. It is deleted when the upload has completed or failed',
    'https://files.example.com/slow-signal.wav',
  )
  @TextField({ max: 2048, format: 'uri' }) // the guarded client checks whether the URL is allowed
  upload_url: string;
}
