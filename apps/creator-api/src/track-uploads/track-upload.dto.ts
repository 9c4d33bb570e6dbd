import { TextField, UuidField } from '@fulfilment/http-service';

export class ReleasePath {
  @UuidField() id: string;
}

export class TrackUploadPath {
  @UuidField() id: string;
}

export class RegisterTrackUploadDto {
  /** The caller's own name of the track: a second upload under it replaces the first. */
  @UuidField() track_uuid: string;
  /** Where the audio can be fetched; whether it may be called is judged by the guarded client. */
  @TextField({ most: 2048 }) upload_url: string;
}
