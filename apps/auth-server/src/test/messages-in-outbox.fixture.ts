import { parseMessage } from '@fulfilment/contracts';
import { server } from './server.fixture.js';
import { testStatement } from './test-statement.fixture.js';

/** Reads messages from the outbox by their ids, the oldest first. */
export async function messagesInOutbox(...ids: readonly string[]) {
  const rows = await server.database.rows<{ body: string }>(
    testStatement('SELECT body::text FROM outbox WHERE message_id = ANY ($1::uuid[]) ORDER BY position'),
    [ids],
  );
  return rows.map(({ body }) => parseMessage(body));
}
