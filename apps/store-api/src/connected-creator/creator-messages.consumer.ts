import { type Message, messages } from '@fulfilment/contracts';
import type { Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { createEdition } from '../catalogue/editions/create-edition.js';
import { setArtistOfEditions } from '../catalogue/editions/edition-artist.js';
import { lockReleasesAndCreators } from '../catalogue/editions/lock-releases-and-creators.js';
import { rewriteTrackListing, storeTrack } from '../catalogue/editions/write-track-listing.js';
import { ApproveRelease } from '../catalogue/publishing/approve-release.js';
import { recordCreator } from './record-creator.js';

/** Consumes messages of auth-server and creator-api about creators and their releases. */
@Injectable()
export class CreatorMessagesConsumer extends MessageConsumer {
  readonly queue = 'store-api.creators';
  readonly batchSize = 100;

  constructor(private readonly approveRelease: ApproveRelease) {
    super();
  }

  async handle(tx: Transaction, batch: readonly Message[]): Promise<void> {
    await lockReleasesAndCreators(tx, batch.flatMap(subjectsOf));
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
