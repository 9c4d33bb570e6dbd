import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import {
  trackUploadColumns,
  type TrackUploadRow,
  trackUploadView,
} from '../track-uploads/track-upload.view.js';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import type { ReleasesQuery } from './release.dto.js';
import { type ReleaseSummary, maxShownTracks, type ReleaseDetail } from './release.shapes.js';

const countReleases = statement(
  'releases.count',
  'SELECT count(*) AS total FROM editions WHERE creator_id = $1',
);

// The state of a track is the state of its upload that was registered last, as in store-api.
const newestUploadsSql = (releaseId: string): string =>
  `SELECT DISTINCT ON (track_id) * FROM track_uploads WHERE release_id = ${releaseId} ORDER BY track_id, created_at DESC, id DESC`;
const selectWithTracksSql = (editions: string): string => `
   SELECT e.id, e.creator_id AS creator, e.title, e.release_type_id, e.ean, e.created_at, t.tracks FROM (${editions}) e
   CROSS JOIN LATERAL (
     SELECT json_build_object(
       'pending', count(*) FILTER (WHERE status = 'pending'), 'processing', count(*) FILTER (WHERE status = 'processing'),
       'completed', count(*) FILTER (WHERE status = 'completed'), 'failed', count(*) FILTER (WHERE status = 'failed')) AS tracks
     FROM (${newestUploadsSql('e.id')}) u
   ) t`;
const readPage = statement(
  'releases.page',
  `${selectWithTracksSql('SELECT * FROM editions WHERE creator_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3')}
   ORDER BY e.created_at DESC, e.id DESC`,
);
const readOne = statement('releases.read', selectWithTracksSql('SELECT * FROM editions WHERE id = $1'));
const readUploads = statement(
  'releases.uploads',
  `SELECT ${trackUploadColumns} FROM (${newestUploadsSql('$1')}) u ORDER BY created_at DESC, id DESC LIMIT ${maxShownTracks}`,
);

interface ReleaseRow extends Omit<ReleaseSummary, 'created_at'> {
  readonly created_at: Date;
}

/** Reads the releases that were created through this API, with the processing state of their tracks. */
@Injectable()
export class ReadReleases {
  constructor(
    private readonly visibility: Visibility,
    @Inject(CONFIG) private readonly config: Pick<CreatorApiSettings, 'BASE_URL'>,
  ) {}

  /**
   * Lists a creator's releases, the newest first.
   * @throws NotFound when the creator is not visible to the caller
   */
  list(caller: Caller, { creator, page, per_page }: ReleasesQuery): Promise<NumberedPage<ReleaseSummary>> {
    return this.visibility.readReplicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creator);
      const total = (await tx.row<{ total: number }>(countReleases, [creator]))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows = skip < total ? await tx.rows<ReleaseRow>(readPage, [creator, per_page, skip]) : [];
      return { data: rows.map(releaseSummary), meta: { page, per_page, total } };
    });
  }

  /** @throws NotFound when the release is not visible to the caller, or was not created through this API */
  read(caller: Caller, id: string): Promise<ReleaseDetail> {
    return this.visibility.snapshot(caller, async (tx) => {
      const row = (await tx.row<ReleaseRow>(readOne, [id])) ?? throwNotFound('release');
      const uploads = await tx.rows<TrackUploadRow>(readUploads, [id]);
      const track_uploads = uploads.map((upload) => trackUploadView(upload, this.config.BASE_URL));
      return { ...releaseSummary(row), track_uploads };
    });
  }
}

function releaseSummary(row: ReleaseRow): ReleaseSummary {
  return { ...row, created_at: row.created_at.toISOString() };
}
