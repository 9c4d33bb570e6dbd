import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { MessageConsumer } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { ArtistOfEditions } from '../catalogue/artist-of-editions.js';
import { CreateEdition } from '../catalogue/create-edition.js';
import { ListTracks } from '../catalogue/list-tracks.js';
import { RecordCreator } from './record-creator.js';

// Messages of a release, its tracks and its creator may be handled by several replicas concurrently, which do
// not see each other's uncommitted rows. So each release and creator is locked. A batch takes all its locks
// first, in one order, to avoid deadlocks.
const lockSubjects = statement(
  'creators.lock-subjects',
  `SELECT pg_advisory_xact_lock(key) FROM (
     SELECT DISTINCT hashtextextended('facts-of:' || id, 0) AS key FROM unnest($1::text[]) AS id ORDER BY key) AS keys`,
);

/** Consumes messages of auth-server and creator-api about creators and their releases. */
@Injectable()
export class CreatorsConsumer extends MessageConsumer {
  readonly queue = 'store-api.creators';
  readonly batchSize = 100;

  constructor(
    private readonly recordCreator: RecordCreator,
    private readonly createEdition: CreateEdition,
    private readonly artistOfEditions: ArtistOfEditions,
    private readonly listTracks: ListTracks,
  ) {
    super();
  }

  async handle(tx: Transaction, facts: readonly Message[]): Promise<void> {
    await tx.run(lockSubjects, [facts.flatMap(subjectsOf)]);
    for (const fact of facts) await this.handleOne(tx, fact);
  }

  private async handleOne(tx: Transaction, fact: Message): Promise<void> {
    if (messages.creatorRegistered.is(fact) || messages.creatorChanged.is(fact)) {
      await this.recordCreator.run(tx, fact.data.creator);
      await this.artistOfEditions.fillIn(tx, fact.data.creator.id);
    } else if (messages.editionCreated.is(fact)) {
      await this.createEdition.run(tx, fact.data.edition);
      await this.listTracks.fillIn(tx, fact.data.edition.id);
    } else if (messages.trackProcessed.is(fact)) {
      await this.listTracks.record(tx, fact.data, fact.occurred_at);
    }
  }
}

/** The ids of the creator and the release that a message is about. */
function subjectsOf(fact: Message): readonly string[] {
  if (messages.creatorRegistered.is(fact) || messages.creatorChanged.is(fact)) return [fact.data.creator.id];
  if (messages.editionCreated.is(fact)) return [fact.data.edition.id, fact.data.edition.creator_id];
  return messages.trackProcessed.is(fact) ? [fact.data.release_id] : [];
}
