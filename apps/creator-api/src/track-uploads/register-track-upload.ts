import { uuidv7 } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Conflict, throwNotFound, ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient, toUri } from '@fulfilment/guarded-fetch';
import { type Caller, callerKey, FailureThrottle, ResponseWithHeaders } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { Visibility } from '../visibility/visibility.js';
import type { RegisterTrackUploadDto } from './track-upload.dto.js';
import type { RegistrationView } from './track-upload.shapes.js';
import { registrationView, type TrackUploadRow } from './track-upload.view.js';
import { UploadProcessing } from './processing/upload-processing.job.js';

const maxOpenUploadsPerCreator = 1000;
const maxTracksPerRelease = 500;
/** Includes ended uploads, since registrations and reads of a release read all of its uploads. */
const maxUploadsPerRelease = 5_000;
/** Rejected URLs with a private host that a caller may send, per replica. */
const privateHostQuota = { requests: 20, windowSeconds: 60 };

type OpenUpload = Pick<TrackUploadRow, 'id' | 'status' | 'workflow_id'>;

interface RequestedTrack {
  readonly releaseId: string;
  readonly trackId: string;
  /** The URL as a URI (RFC 3986), which is stored. */
  readonly url: string;
}

interface UploadCounts {
  /** Uploads of the creator that are pending or processing. */
  readonly open: number;
  /** Uploads of the release in any state. */
  readonly uploads: number;
  /** Other tracks of the release with an upload that has not failed. */
  readonly tracks: number;
}

// A release was created here (`editions`) or is known only from orders.
const findReleaseCreator = statement(
  'track-uploads.release',
  `SELECT creator_id FROM editions WHERE id = $1
   UNION ALL SELECT creator_id FROM ordered_releases WHERE release_id = $1 LIMIT 1`,
);
// Serialises the registrations of a creator, so that duplicates are detected and concurrent requests cannot
// exceed a limit.
const serialiseRegistrations = statement(
  'track-uploads.serialise-registrations',
  "SELECT pg_advisory_xact_lock(hashtextextended('track-uploads:' || $1::text, 0))",
);
// md5 is the indexed expression, since a URL may be too long for an index.
const findOpenUpload = statement(
  'track-uploads.find-open',
  `SELECT id, status, workflow_id FROM track_uploads
   WHERE release_id = $1 AND track_id = $2 AND md5(upload_url) = md5($3) AND upload_url = $3
     AND status IN ('pending', 'processing')`,
);
const countUploads = statement(
  'track-uploads.count',
  `WITH uploads AS MATERIALIZED (
     SELECT track_id, status FROM track_uploads WHERE release_id = $2 LIMIT ${maxUploadsPerRelease}
   )
   SELECT (SELECT count(*) FROM track_uploads WHERE creator_id = $1 AND status IN ('pending', 'processing')) AS open,
     (SELECT count(*) FROM uploads) AS uploads,
     (SELECT count(DISTINCT track_id) FROM uploads WHERE status <> 'failed' AND track_id <> $3) AS tracks`,
);
const insert = statement(
  'track-uploads.insert',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, upload_url, status, due_at, created_at, updated_at)
   VALUES (:id, :workflow_id, :creator_id, :release_id, :track_id, :url, 'pending', now(), :now, :now)`,
);

/** Registers the URL of a track's audio, which is then fetched and analysed in the background. */
@Injectable()
export class RegisterTrackUpload {
  private readonly privateHosts = new FailureThrottle(privateHostQuota);

  constructor(
    private readonly visibility: Visibility,
    private readonly client: GuardedClient,
    private readonly processing: UploadProcessing,
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Registers an upload, or returns the open upload of the same release, track and URL.
   * @throws ValidationFailed when the URL is not allowed
   * @throws NotFound when the release is not visible to the caller
   * @throws Conflict when the creator or the release has reached its limit
   * @throws RateLimited when the caller sent too many URLs with private addresses
   */
  async run(
    caller: Caller,
    releaseId: string,
    { track_uuid: trackId, upload_url: rawUrl }: RegisterTrackUploadDto,
  ): Promise<ResponseWithHeaders<RegistrationView>> {
    // The rules apply to the URL as it was sent.
    assertNoUrlProblem(this.client.findUrlProblem(rawUrl));
    const url = toUri(rawUrl);
    if (url === undefined) throw new Error('An allowed URL cannot be written as a URI.');
    // Checks the release and the limits before the host, so that only callers who may upload learn whether a
    // host has a private address. No transaction is open while the host is resolved, so `register` repeats
    // both checks under its lock.
    const track = { releaseId, trackId, url };
    let upload = await this.visibility.transaction(caller, async (tx) => {
      const creatorId = await readReleaseCreator(tx, releaseId);
      const open = await findOpen(tx, track);
      if (open === undefined) await assertWithinLimits(tx, creatorId, track);
      return open;
    });
    if (upload === undefined) {
      await this.checkHostName(caller, rawUrl);
      upload = await this.visibility.transaction(caller, (tx) => this.register(tx, track));
    }
    const view = registrationView(upload, this.config.BASE_URL);
    return new ResponseWithHeaders(view, { Location: view.status_url });
  }

  /**
   * Resolves the host of the URL.
   * @throws ValidationFailed if its address is private; RateLimited when the caller sent too many such URLs
   */
  private async checkHostName(caller: Caller, url: string): Promise<void> {
    await this.privateHosts.attempt(callerKey(caller), async () =>
      assertNoUrlProblem(await this.client.findAddressProblem(url)),
    );
  }

  private async register(tx: Transaction, track: RequestedTrack): Promise<OpenUpload> {
    const { releaseId, trackId, url } = track;
    const creatorId = await readReleaseCreator(tx, releaseId);
    await tx.run(serialiseRegistrations, [creatorId]);
    const open = await findOpen(tx, track);
    if (open !== undefined) return open;
    await assertWithinLimits(tx, creatorId, track);
    const now = this.clock();
    const upload = { id: uuidv7(now), workflow_id: uuidv7(now) };
    await tx.run(insert, {
      ...upload,
      creator_id: creatorId,
      release_id: releaseId,
      track_id: trackId,
      url,
      now,
    });
    tx.afterCommit(() => this.processing.wake());
    return { ...upload, status: 'pending' };
  }
}

/** @throws NotFound when the release is not visible to the caller */
async function readReleaseCreator(tx: Transaction, releaseId: string): Promise<string> {
  const release = await tx.row<{ creator_id: string }>(findReleaseCreator, [releaseId]);
  return (release ?? throwNotFound('release')).creator_id;
}

/** Returns the open upload of the track and URL, if there is one. */
function findOpen(
  tx: Transaction,
  { releaseId, trackId, url }: RequestedTrack,
): Promise<OpenUpload | undefined> {
  return tx.row<OpenUpload>(findOpenUpload, [releaseId, trackId, url]);
}

/** @throws Conflict when the creator or the release has reached its limit */
async function assertWithinLimits(
  tx: Transaction,
  creatorId: string,
  { releaseId, trackId }: RequestedTrack,
): Promise<void> {
  const counts = await tx.row<UploadCounts>(countUploads, [creatorId, releaseId, trackId]);
  if (counts === undefined) throw new Error('PostgreSQL returned no counts of track uploads.');
  if (counts.open >= maxOpenUploadsPerCreator)
    throw new Conflict(
      `The creator already has ${maxOpenUploadsPerCreator} track uploads in progress. Wait until some have completed.`,
    );
  if (counts.uploads >= maxUploadsPerRelease)
    throw new Conflict(
      `The release already has the maximum of ${maxUploadsPerRelease} track uploads, ended ones included.`,
    );
  if (counts.tracks >= maxTracksPerRelease)
    throw new Conflict(`The release already has the maximum of ${maxTracksPerRelease} tracks.`);
}

function assertNoUrlProblem(problem: string | undefined): void {
  if (problem !== undefined) throw new ValidationFailed([{ field: 'upload_url', reason: problem }]);
}
