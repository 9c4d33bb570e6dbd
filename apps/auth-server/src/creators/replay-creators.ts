import { type Message, messages, nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Clock } from '@fulfilment/runtime';
import {
  creatorSnapshot,
  publishedColumns,
  type PublishedRow,
} from '../creator-snapshots/creator-snapshot.js';

const readPage = statement(
  'creators.replay',
  `SELECT ${publishedColumns} FROM creators WHERE id > $1 ORDER BY id LIMIT $2`,
);

/** Yields the current state of every creator as replay messages, page by page. */
export async function* replayCreators(
  database: Database,
  clock: Clock,
  pageSize = 500,
): AsyncGenerator<Message[]> {
  let after = nilUuid;
  for (;;) {
    const page = await database.rows<PublishedRow>(readPage, [after, pageSize]);
    const occurredAt = clock();
    yield page.map((row) => messages.replayCreator.make({ creator: creatorSnapshot(row) }, { occurredAt }));
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}
