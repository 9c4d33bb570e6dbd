import type { NumberedPage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { throwNotFound } from '@fulfilment/error-envelope';
import type { Caller } from '@fulfilment/http-service';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { type TrackUploadRow, trackUploadView } from '../track-uploads/track-upload.view.js';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import type { ReleasesQuery } from './release.dto.js';
import { type ListedRelease, maxShownTracks, type ReleaseDetail } from './release.shapes.js';

const countReleases = statement(
  'releases.count',
  'SELECT count(*) AS total FROM editions WHERE creator_id = $1',
);

// The upload that was registered last decides about a track, as it does in the Store.
const newestUploads = `SELECT DISTINCT ON (track_id) * FROM track_uploads WHERE release_id = e.id
       ORDER BY track_id, created_at DESC, id DESC`;
const withTracks = (editions: string): string => `
   SELECT e.id, e.creator_id, e.title, e.release_type_id, e.ean, e.created_at, t.* FROM (${editions}) e
   CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE status = 'pending')::int AS pending, count(*) FILTER (WHERE status = 'processing')::int AS processing,
       count(*) FILTER (WHERE status = 'completed')::int AS completed, count(*) FILTER (WHERE status = 'failed')::int AS failed
     FROM (${newestUploads}) u
   ) t`;
const readPage = statement(
  'releases.page',
  `${withTracks('SELECT * FROM editions WHERE creator_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3')}
   ORDER BY e.created_at DESC, e.id DESC`,
);
const readOne = statement('releases.read', withTracks('SELECT * FROM editions WHERE id = $1'));
const readUploads = statement(
  'releases.uploads',
  `SELECT u.id, u.workflow_id, u.release_id, u.track_id, u.status, u.audio, u.failure, u.created_at, u.updated_at
   FROM (SELECT $1::uuid AS id) e CROSS JOIN LATERAL (${newestUploads}) u
   ORDER BY u.created_at DESC, u.id DESC LIMIT ${maxShownTracks}`,
);

interface ReleaseRow {
  readonly id: string;
  readonly creator_id: string;
  readonly title: string;
  readonly release_type_id: number;
  readonly ean: string | null;
  readonly created_at: Date;
  readonly pending: number;
  readonly processing: number;
  readonly completed: number;
  readonly failed: number;
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
  list(caller: Caller, { creator, page, per_page }: ReleasesQuery): Promise<NumberedPage<ListedRelease>> {
    return this.visibility.replicaSnapshot(caller, async (tx) => {
      await selectCreator(tx, creator);
      const total = (await tx.row<{ total: number }>(countReleases, [creator]))?.total ?? 0;
      const skip = (page - 1) * per_page;
      const rows = skip < total ? await tx.rows<ReleaseRow>(readPage, [creator, per_page, skip]) : [];
      return { data: rows.map(listedRelease), meta: { page, per_page, total } };
    });
  }

  /** @throws NotFound when the release is not visible to the caller, or is one of the catalogue */
  findOne(caller: Caller, id: string): Promise<ReleaseDetail> {
    return this.visibility.snapshot(caller, async (tx) => {
      const row = (await tx.row<ReleaseRow>(readOne, [id])) ?? throwNotFound('release');
      const uploads = await tx.rows<TrackUploadRow>(readUploads, [id]);
      const track_uploads = uploads.map((upload) => trackUploadView(upload, this.config.BASE_URL));
      return { ...listedRelease(row), track_uploads };
    });
  }
}

function listedRelease(row: ReleaseRow): ListedRelease {
  const { pending, processing, completed, failed } = row;
  return {
    id: row.id,
    title: row.title,
    release_type_id: row.release_type_id,
    ean: row.ean,
    created_at: row.created_at.toISOString(),
    creator: row.creator_id,
    tracks: { pending, processing, completed, failed },
  };
}
