import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { createEdition } from '../catalogue/editions/create-edition.js';
import { setArtistOfEditions } from '../catalogue/editions/edition-artist.js';
import { rewriteTrackListing, storeTrack } from '../catalogue/editions/write-track-listing.js';
import { ApproveRelease } from '../catalogue/publishing/approve-release.js';
import { recordCreator } from './record-creator.js';

// Replicas that handle messages about one release, its tracks and its creator concurrently do not see each
// other's uncommitted rows. So each release and creator is locked. A batch takes all its locks first, in the
// order of their keys, to avoid deadlocks. The prefix separates the keys from those of other locks. It never
// changes, since replicas of two versions of store-api may run concurrently.
const lockSubjects = statement(
  'creators.lock-subjects',
  `SELECT pg_advisory_xact_lock(key) FROM (
     SELECT DISTINCT hashtextextended('facts-of:' || id, 0) AS key FROM unnest($1::text[]) AS id ORDER BY key) AS keys`,
);

/** Consumes messages of auth-server and creator-api about creators and their releases. */
@Injectable()
export class CreatorMessagesConsumer extends MessageConsumer {
  readonly queue = 'store-api.creators';
  readonly batchSize = 100;

  constructor(private readonly approveRelease: ApproveRelease) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    await tx.run(lockSubjects, [batch.flatMap(subjectsOf)]);
    for (const message of batch) await this.handleOne(tx, message);
  }

  private async handleOne(tx: Transaction, message: Message): Promise<void> {
    const occurredAt = message.occurred_at;
    if (messages.creatorRegistered.is(message) || messages.creatorChanged.is(message)) {
      const { creator } = message.data;
      await recordCreator(tx, creator);
      await setArtistOfEditions(tx, creator.id);
      await this.approveRelease.approveTestReleases(tx, creator.id, occurredAt);
    } else if (messages.editionCreated.is(message)) {
      const { edition } = message.data;
      await createEdition(tx, edition);
      await rewriteTrackListing(tx, edition.id);
      await this.approveRelease.approveTestReleases(tx, edition.creator_id, occurredAt);
    } else if (messages.trackProcessed.is(message)) {
      await storeTrack(tx, message.data, occurredAt);
    }
  }
}

/** Returns the ids of the creator and the release that a message is about. */
function subjectsOf(message: Message): readonly string[] {
  if (messages.creatorRegistered.is(message) || messages.creatorChanged.is(message))
    return [message.data.creator.id];
  if (messages.editionCreated.is(message)) return [message.data.edition.id, message.data.edition.creator_id];
  return messages.trackProcessed.is(message) ? [message.data.release_id] : [];
}
