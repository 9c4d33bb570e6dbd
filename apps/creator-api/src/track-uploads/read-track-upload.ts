import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { Visibility } from '../visibility/visibility.js';
import type { TrackUploadView } from './track-upload.shapes.js';
import { trackUploadColumns, type TrackUploadRow, trackUploadView } from './track-upload.view.js';

const read = statement('track-uploads.read', `SELECT ${trackUploadColumns} FROM track_uploads WHERE id = $1`);

/** Returns the status and the outcome of an upload. */
@Injectable()
export class ReadTrackUpload {
  constructor(
    private readonly visibility: Visibility,
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
  ) {}

  /** @throws NotFound when the upload is not visible to the caller */
  async run(caller: Caller, id: string): Promise<TrackUploadView> {
    const row = await this.visibility.snapshot(caller, (tx) => tx.row<TrackUploadRow>(read, [id]));
    return trackUploadView(row ?? throwNotFound('track upload'), this.config.BASE_URL);
  }
}
