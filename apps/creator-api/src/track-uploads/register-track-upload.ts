import { uuidv7 } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Conflict, notFound, ValidationFailed } from '@fulfilment/error-envelope';
import { GuardedClient, targetUri } from '@fulfilment/guarded-fetch';
import { ResponseWithHeaders, type Caller, FailureThrottle } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { Visibility } from '../visibility/visibility.js';
import { creatorsBeside } from './creators-beside.js';
import type { RegisterTrackUploadDto } from './track-upload.dto.js';
import type { RegistrationView } from './track-upload.shapes.js';
import { registrationView, type TrackUploadRow } from './track-upload.view.js';
import { UploadQueue } from './upload-queue.js';

const mostOpenOfACreator = 1000;
const mostTracksOfARelease = 500;
/** URLs whose name resolves to a private address, per caller and replica. */
const privateNameQuota = { requests: 20, windowSeconds: 60 };

type Registered = Pick<TrackUploadRow, 'id' | 'status' | 'workflow_id'>;

const releaseOwner = statement(
  'track-uploads.release',
  `SELECT creator_id FROM editions WHERE id = $1
   UNION ALL SELECT creator_id FROM ordered_releases WHERE release_id = $1 LIMIT 1`,
);
// One creator's registrations take turns: two of the same make one, and neither gets past a bound together.
const takeTurns = statement(
  'track-uploads.take-turns',
  "SELECT pg_advisory_xact_lock(hashtextextended('track-uploads:' || $1::text, 0))",
);
const same = statement(
  'track-uploads.same',
  `SELECT id, status, workflow_id FROM track_uploads
   WHERE release_id = $1 AND track_id = $2 AND md5(upload_url) = md5($3) AND upload_url = $3
     AND status IN ('pending', 'processing')`,
);
const measure = statement(
  'track-uploads.measure',
  `SELECT (SELECT count(*) FROM track_uploads WHERE creator_id = $1 AND status IN ('pending', 'processing')) AS open,
          (SELECT count(*) FROM track_uploads
           WHERE creator_id IN (${creatorsBeside('$1::uuid')}) AND status IN ('pending', 'processing')) AS before,
          (SELECT count(DISTINCT track_id) FROM track_uploads
           WHERE release_id = $2 AND status <> 'failed' AND track_id <> $3) AS tracks`,
);
const insert = statement(
  'track-uploads.insert',
  `INSERT INTO track_uploads (id, workflow_id, creator_id, release_id, track_id, upload_url, status, due_at, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, 'pending', now(), $7, $7)`,
);

/** Takes down where a track's audio can be fetched, and has it fetched and read. */
@Injectable()
export class RegisterTrackUpload {
  private readonly privateNames = new FailureThrottle(privateNameQuota);

  constructor(
    private readonly visibility: Visibility,
    private readonly client: GuardedClient,
    private readonly queue: UploadQueue,
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The same release, track and URL while that upload is not over is the same registration.
   * @throws ValidationFailed when the URL may not be called
   * @throws NotFound when the caller sees no such release
   * @throws Conflict when the creator or the release has as many as may be
   * @throws RateLimited when the caller named too many private names
   */
  async run(
    who: Caller,
    releaseId: string,
    { track_uuid: trackId, upload_url: given }: RegisterTrackUploadDto,
  ): Promise<ResponseWithHeaders<RegistrationView>> {
    rejectUrl(this.client.findUrlProblem(given));
    const url = targetUri(given) ?? given;
    // Whose release it is, and whether there is room, comes first: only then may the caller learn what a name resolves to.
    const known = await this.visibility.as(who, (tx) => findOpen(tx, releaseId, trackId, url));
    if (known === undefined) await this.requireTarget(who, given);
    const registered =
      known ?? (await this.visibility.as(who, (tx) => this.register(tx, releaseId, trackId, url)));
    const view = registrationView(registered, this.config.BASE_URL);
    return new ResponseWithHeaders(view, { Location: view.status_url });
  }

  /** @throws ValidationFailed, RateLimited when the caller named too many private names */
  private async requireTarget({ clientId, creatorId, subject }: Caller, url: string): Promise<void> {
    const who = `${clientId}:${creatorId ?? subject}`; // as quotas count
    this.privateNames.check(who);
    const problem = await this.client.findTargetProblem(url);
    if (problem !== undefined) this.privateNames.add(who);
    rejectUrl(problem);
  }

  private async register(
    tx: Transaction,
    releaseId: string,
    trackId: string,
    url: string,
  ): Promise<Registered> {
    const creatorId = await ownerOf(tx, releaseId);
    await tx.run(takeTurns, [creatorId]);
    const open = await tx.row<Registered>(same, [releaseId, trackId, url]);
    if (open !== undefined) return open;
    const before = await makeRoom(tx, creatorId, releaseId, trackId);
    const now = this.clock();
    const registered = { id: uuidv7(now), status: 'pending' as const, workflow_id: uuidv7(now) };
    await tx.run(insert, [registered.id, registered.workflow_id, creatorId, releaseId, trackId, url, now]);
    tx.afterCommit(() => this.queue.addSoon({ ...registered, place: before + 1 }));
    return registered;
  }
}

async function ownerOf(tx: Transaction, releaseId: string): Promise<string> {
  const owner = await tx.row<{ creator_id: string }>(releaseOwner, [releaseId]);
  return (owner ?? notFound('release')).creator_id;
}

/** The same registration when it is not over. @throws NotFound, Conflict as a registration would be rejected */
async function findOpen(
  tx: Transaction,
  releaseId: string,
  trackId: string,
  url: string,
): Promise<Registered | undefined> {
  const creatorId = await ownerOf(tx, releaseId);
  const open = await tx.row<Registered>(same, [releaseId, trackId, url]);
  if (open === undefined) await makeRoom(tx, creatorId, releaseId, trackId);
  return open;
}

function rejectUrl(problem: string | undefined): void {
  if (problem !== undefined) throw new ValidationFailed([{ field: 'upload_url', reason: problem }]);
}

/** Returns how many the organisation has that are not over. @throws Conflict */
async function makeRoom(
  tx: Transaction,
  creatorId: string,
  releaseId: string,
  trackId: string,
): Promise<number> {
  const counted = await tx.row<{ open: number; before: number; tracks: number }>(measure, [
    creatorId,
    releaseId,
    trackId,
  ]);
  if ((counted?.open ?? 0) >= mostOpenOfACreator)
    throw new Conflict(
      `The creator already has ${mostOpenOfACreator} track uploads in progress. Wait until some have completed.`,
    );
  if ((counted?.tracks ?? 0) >= mostTracksOfARelease)
    throw new Conflict(`The release already has the maximum of ${mostTracksOfARelease} tracks.`);
  return counted?.before ?? 0;
}
