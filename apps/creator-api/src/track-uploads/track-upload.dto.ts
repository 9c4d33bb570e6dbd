import { Description } from '@fulfilment/api-reference';
import { TextField, UuidField } from '@fulfilment/http-service';
import { registrationExample, trackUploadExample } from './track-upload.shapes.js';

export class ReleasePath {
  @Description('The release, as it was created here or as order items name it', trackUploadExample.release_id)
  @UuidField()
  id: string;
}

export class TrackUploadPath {
  @Description('The upload', registrationExample.id) @UuidField() id: string;
}

export class RegisterTrackUploadDto {
  @Description(
    "The caller's own name of the track: a second upload under it replaces the first",
    trackUploadExample.track_uuid,
  )
  @UuidField()
  track_uuid: string;

  @Description(
    'Where the audio can be fetched: https, at an address of the public Internet. It is forgotten when the upload is over',
    'https://files.example.com/slow-signal.wav',
  )
  @TextField({ max: 2048, format: 'uri' }) // whether it may be called is judged by the guarded client
  upload_url: string;
}
