import type { MessageQueue } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { InternalRoute } from '@fulfilment/runtime';

const claim = statement(
  'inbox.claim',
  // A refused message that an operator sends again gets its second chance; one that was held is looked at anew.
  `INSERT INTO inbox (message_id, queue, outcome)
   SELECT id, $2, 'applied' FROM unnest($1::uuid[]) AS id ORDER BY id
   ON CONFLICT (message_id, queue) DO UPDATE SET outcome = 'applied', reason = NULL, handled_at = now()
     WHERE inbox.outcome <> 'applied'
   RETURNING message_id`,
);

/** Writes the inbox rows of messages about to be handled. Answers the ids that were not handled before. */
export async function claimMessages(
  tx: Transaction,
  queue: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ message_id: string }>(claim, [[...new Set(ids)], queue]);
  return new Set(rows.map((row) => row.message_id));
}

const refuse = statement(
  'inbox.refuse',
  `INSERT INTO inbox (message_id, queue, outcome, reason) VALUES ($1, $2, 'refused', $3)
   ON CONFLICT (message_id, queue) DO UPDATE SET outcome = 'refused', reason = excluded.reason, handled_at = now()
     WHERE inbox.outcome <> 'applied'`,
);

export async function recordRefusal(
  database: Database,
  queue: string,
  messageId: string,
  reason: string,
): Promise<void> {
  await database.run(refuse, [messageId, queue, reason]);
}

const record = statement(
  'inbox.record',
  'UPDATE inbox SET outcome = $3, reason = $4, handled_at = now() WHERE message_id = $1 AND queue = $2',
);

/** What became of a message that its consumer has taken but not applied, or has judged later. In a table that knows `held`. */
export async function recordOutcome(
  tx: Transaction,
  queue: MessageQueue,
  messageId: string,
  outcome: 'applied' | 'held' | 'refused',
  reason?: string,
): Promise<void> {
  await tx.run(record, [messageId, queue, outcome, reason ?? null]);
}

const outcome = statement('inbox.outcome', 'SELECT outcome, reason FROM inbox WHERE message_id = $1 LIMIT 1');

/** `/messages/{message_id}` of the internal port: what became of a message here, by which a sender knows it was applied. */
export function messageOutcomes(database: Database): InternalRoute {
  return async (path) => {
    const messageId = /^\/messages\/([0-9a-f-]{36})$/i.exec(path)?.[1]?.toLowerCase();
    if (messageId === undefined) return undefined;
    const row = await database.row<{ outcome: string; reason: string | null }>(outcome, [messageId]);
    return row === undefined ? undefined : { message_id: messageId, ...row };
  };
}

const prune = statement(
  'inbox.prune',
  `DELETE FROM inbox WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM inbox WHERE handled_at < now() - interval '30 days' LIMIT 5000))`,
);

/** Forgets messages of more than 30 days ago, a batch at a time. Answers whether there may be more. */
export async function pruneInbox(database: Database): Promise<boolean> {
  return (await database.run(prune)) === 5000;
}
