import { messages } from '@fulfilment/contracts';
import { each, Messaging } from '@fulfilment/messaging';
import { Injectable } from '@nestjs/common';
import { ArtistOfEditions } from '../catalogue/artist-of-editions.js';
import { CreateEdition } from '../catalogue/create-edition.js';
import { ListTracks } from '../catalogue/list-tracks.js';
import { RecordCreator } from './record-creator.js';

/** What auth-server and creator-api tell of creators and their releases. */
@Injectable()
export class CreatorsConsumer {
  constructor(
    messaging: Messaging,
    recordCreator: RecordCreator,
    createEdition: CreateEdition,
    artistOfEditions: ArtistOfEditions,
    listTracks: ListTracks,
  ) {
    messaging.consume({
      queue: 'store-api.creators',
      batchSize: 100,
      handle: each(async (tx, message) => {
        if (messages.creatorRegistered.is(message) || messages.creatorChanged.is(message)) {
          await recordCreator.run(tx, message.data.creator);
          await artistOfEditions.fillIn(tx, message.data.creator.id);
        } else if (messages.editionCreated.is(message)) {
          await createEdition.run(tx, message.data.edition);
          await listTracks.fillIn(tx, message.data.edition.id);
        } else if (messages.trackProcessed.is(message)) {
          await listTracks.take(tx, message.data, message.occurred_at);
        }
      }),
    });
  }
}
