import { isUuid, type MessageQueue } from '@fulfilment/contracts';
import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { InternalRoute } from '@fulfilment/runtime';

// A message that was rejected or deferred (`held`) is handled when a further copy arrives, such as an
// operator's replay.
const claim = statement(
  'inbox.claim',
  `INSERT INTO inbox (message_id, queue, outcome)
   SELECT id, $2, 'applied' FROM unnest($1::uuid[]) AS id ORDER BY id
   ON CONFLICT (message_id, queue) DO UPDATE SET outcome = 'applied', reason = NULL, handled_at = now()
     WHERE inbox.outcome <> 'applied'
   RETURNING message_id`,
);

/** Records messages as applied, before their handler runs. Returns the ids that were not applied before. */
export async function claimMessages(
  tx: Transaction,
  queue: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ message_id: string }>(claim, [[...new Set(ids)], queue]);
  return new Set(rows.map((row) => row.message_id));
}

/** Why a message is rejected if the inbox rows of its day were dropped (ADR 49). */
export const olderThanInbox =
  'older than the inbox, which no longer shows whether it was handled; check its effect, then replay or discard it';

/** Messages of dropped days are at least seven days old; one day less, since clocks differ. */
const oldMessageMs = 6 * 86_400_000;
// Prevents a drop of a day between this statement and the end of the transaction.
const lockPartitions = statement('inbox.lock-partitions', 'LOCK TABLE ONLY inbox IN ROW EXCLUSIVE MODE');
// A row with the reason `olderThanInbox` ($3) does not count: it does not show whether the message was
// handled before.
const findOfDroppedDays = statement(
  'inbox.of-dropped-days',
  `SELECT id FROM unnest($1::uuid[]) AS id JOIN inbox_dropped d ON id >= d.first_id AND id < d.end_id
   WHERE NOT EXISTS (SELECT FROM inbox WHERE message_id = id AND queue = $2 AND reason IS DISTINCT FROM $3)`,
);

/**
 * Returns whether any of the messages may have been handled on a day whose rows were dropped. Call before
 * `claimMessages`, in its transaction.
 * @param ids messages that no operator has replayed
 */
export async function hasMessagesOfDroppedDays(
  tx: Transaction,
  queue: string,
  ids: readonly string[],
): Promise<boolean> {
  const old = ids.filter((id) => uuidTimeMs(id) < Date.now() - oldMessageMs);
  if (old.length === 0) return false;
  await tx.run(lockPartitions);
  return (await tx.rows(findOfDroppedDays, [old, queue, olderThanInbox])).length > 0;
}

/** The time in a UUIDv7 (RFC 9562 §5.7); any number for another UUID. */
function uuidTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

// Tables, metrics and responses of the internal port call a rejected message `refused`.
const reject = statement(
  'inbox.reject',
  `INSERT INTO inbox (message_id, queue, outcome, reason) VALUES ($1, $2, 'refused', $3)
   ON CONFLICT (message_id, queue) DO UPDATE SET outcome = 'refused', reason = excluded.reason, handled_at = now()
     WHERE inbox.outcome <> 'applied'`,
);

/** Records the rejection of a message, unless it was applied before. */
export async function recordRejection(
  database: Database,
  queue: string,
  messageId: string,
  reason: string,
): Promise<void> {
  await database.run(reject, [messageId, queue, reason]);
}

const record = statement(
  'inbox.record',
  'UPDATE inbox SET outcome = $3, reason = $4, handled_at = now() WHERE message_id = $1 AND queue = $2',
);

/**
 * Updates the outcome of a claimed message that its handler deferred (`held`) or rejected, or of an earlier
 * message that was deferred. Only the inbox of store-api allows `held`.
 */
export async function recordOutcome(
  tx: Transaction,
  queue: MessageQueue,
  messageId: string,
  outcome: 'applied' | 'held' | 'refused',
  reason?: string,
): Promise<void> {
  await tx.run(record, [messageId, queue, outcome, reason ?? null]);
}

// Only one queue of a service receives a message, so there is at most one row.
const readOutcome = statement(
  'inbox.outcome',
  'SELECT outcome, reason FROM inbox WHERE message_id = $1 LIMIT 1',
);

/** Returns the outcome of a message in this service; undefined while it is unknown. */
export function findOutcome(
  database: Database,
  messageId: string,
): Promise<{ outcome: 'applied' | 'held' | 'refused'; reason: string | null } | undefined> {
  return database.row(readOutcome, [messageId]);
}

/** Serves `/messages/{message_id}` on the internal port: the outcome of a message, for its sender. */
export function messageOutcomes(database: Database): InternalRoute {
  return async (path) => {
    const messageId = /^\/messages\/([^/]+)$/.exec(path)?.[1]?.toLowerCase();
    if (messageId === undefined || !isUuid(messageId)) return undefined;
    const row = await findOutcome(database, messageId);
    return row === undefined ? undefined : { message_id: messageId, ...row };
  };
}
