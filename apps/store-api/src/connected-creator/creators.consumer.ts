import { type Message, messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { Messaging } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { ArtistOfEditions } from '../catalogue/artist-of-editions.js';
import { CreateEdition } from '../catalogue/create-edition.js';
import { ListTracks } from '../catalogue/list-tracks.js';
import { RecordCreator } from './record-creator.js';

// A release, its tracks and its creator may come to several replicas at once, none of which sees what the others have not committed: so each has one
// of them at a time. All that a batch needs is locked before anything else, in one order: whoever waits holds nothing that others wait for.
const takeTurns = statement(
  'creators.take-turns',
  `SELECT pg_advisory_xact_lock(key) FROM (
     SELECT DISTINCT hashtextextended('facts-of:' || id, 0) AS key FROM unnest($1::text[]) AS id ORDER BY key) AS keys`,
);

/** What auth-server and creator-api tell of creators and their releases. */
@Injectable()
export class CreatorsConsumer {
  constructor(
    messaging: Messaging,
    private readonly recordCreator: RecordCreator,
    private readonly createEdition: CreateEdition,
    private readonly artistOfEditions: ArtistOfEditions,
    private readonly listTracks: ListTracks,
  ) {
    messaging.consume({
      queue: 'store-api.creators',
      batchSize: 100,
      handle: (tx, facts) => this.handle(tx, facts),
    });
  }

  async handle(tx: Transaction, facts: readonly Message[]): Promise<void> {
    await tx.run(takeTurns, [facts.flatMap(concerned)]);
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
      await this.listTracks.take(tx, fact.data, fact.occurred_at);
    }
  }
}

/** The creator and the release that a fact is about. */
function concerned(fact: Message): readonly string[] {
  if (messages.creatorRegistered.is(fact) || messages.creatorChanged.is(fact)) return [fact.data.creator.id];
  if (messages.editionCreated.is(fact)) return [fact.data.edition.id, fact.data.edition.creator_id];
  return messages.trackProcessed.is(fact) ? [fact.data.release_id] : [];
}
