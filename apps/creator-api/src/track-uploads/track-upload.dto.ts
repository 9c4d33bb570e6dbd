import { Description, Field } from '@fulfilment/api-reference';
import { UuidField } from '@fulfilment/http-service';
import { registrationExample, trackUploadExample } from './track-upload.shapes.js';

const mostUrlCharacters = 2048;
const readable = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+$/u;

/** Whether it may be called is judged by the guarded client. */
const uploadUrl = Field({
  name: 'uploadUrl',
  schema: { type: 'string', format: 'uri', maxLength: mostUrlCharacters },
  holds: (value) =>
    typeof value === 'string' && readable.test(value) && [...value].length <= mostUrlCharacters,
  reason: () => `must be a URL of at most ${mostUrlCharacters} characters`,
});

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
  @uploadUrl
  upload_url: string;
}
