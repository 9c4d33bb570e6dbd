import { type Message, messages, nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { Clock } from '@fulfilment/runtime';
import { creatorColumns, type CreatorRow, creatorSnapshot } from './creator-snapshot.js';

const readPage = statement(
  'creators.replay',
  `SELECT ${creatorColumns} FROM creators WHERE id > $1 ORDER BY id LIMIT $2`,
);

/** Yields the current state of every creator as replay messages, page by page. */
export async function* replayCreators(
  database: Database,
  clock: Clock,
  pageSize = 500,
): AsyncGenerator<Message[]> {
  for (let after = nilUuid; ;) {
    const page = await database.rows<CreatorRow>(readPage, [after, pageSize]);
    const occurredAt = clock();
    yield page.map((row) => messages.replayCreator.make({ creator: creatorSnapshot(row) }, { occurredAt }));
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}
