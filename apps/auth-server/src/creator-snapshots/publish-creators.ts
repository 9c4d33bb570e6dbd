import { messages } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import type { Outbox } from '@fulfilment/messaging';
import { creatorSnapshot, publishedColumns, type PublishedRow } from './creator-snapshot.js';

/** Bounds one statement: a person may have connected apps to any number of creators. */
const creatorsPerStatement = 500;

const increaseVersion = statement(
  'creators.increase-version',
  `UPDATE creators SET version = version + 1
   FROM (SELECT id FROM creators WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE) AS locked
   WHERE creators.id = locked.id`,
);
const read = statement(
  'creators.published',
  `SELECT ${publishedColumns} FROM creators WHERE id = ANY($1::uuid[])`,
);

/** Reads a creator as it is published. @throws Error for an unknown creator */
export async function readPublished(tx: Transaction, id: string): Promise<PublishedRow> {
  const row = await tx.row<PublishedRow>(read, [[id]]);
  if (row === undefined) throw new Error(`The creator ${id} does not exist.`);
  return row;
}

/**
 * Publishes creators whose connected apps have changed in this transaction. It locks their rows in the order
 * of their ids. To avoid deadlocks, a transaction calls it once, and locks no other creators afterwards.
 */
export async function publishCreators(
  tx: Transaction,
  outbox: Outbox,
  ids: readonly string[],
): Promise<void> {
  const sortedIds = [...new Set(ids)].toSorted();
  const occurredAt = new Date();
  for (let from = 0; from < sortedIds.length; from += creatorsPerStatement) {
    const batch = sortedIds.slice(from, from + creatorsPerStatement);
    await tx.run(increaseVersion, [batch]);
    const rows = await tx.rows<PublishedRow>(read, [batch]);
    await outbox.add(
      tx,
      ...rows.map((row) => messages.creatorChanged.make({ creator: creatorSnapshot(row) }, { occurredAt })),
    );
  }
}
