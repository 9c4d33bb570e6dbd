import { buildConcurrently, changeBriefly } from '@fulfilment/database';

/** SQL of the two tables of every service that sends or receives messages, for its migrations. */
export const createMessagingTables = `
  CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id uuid NOT NULL,
    type text NOT NULL,
    body jsonb NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE inbox (
    message_id uuid NOT NULL,
    queue text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('applied', 'refused')),
    reason text,
    handled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (message_id, queue)
  );
  CREATE INDEX inbox_handled_at ON inbox (handled_at);
`;

/**
 * Partitions the inbox by day (docs/adr/0049), in a migration outside of a transaction. Its earlier rows
 * become the default partition.
 */
export async function partitionInbox(runner: Parameters<typeof changeBriefly>[0]): Promise<void> {
  const notApplied = "(handled_at) WHERE outcome <> 'applied'";
  await buildConcurrently(runner, 'inbox_other_days_not_applied', 'INDEX', `inbox ${notApplied}`);
  await changeBriefly(
    runner,
    `DO $$ BEGIN
       IF to_regclass('inbox_other_days') IS NOT NULL THEN RETURN; END IF; -- repeated after a crash
       ALTER TABLE inbox RENAME TO inbox_other_days;
       ALTER INDEX inbox_pkey RENAME TO inbox_other_days_pkey;
       ALTER INDEX inbox_handled_at RENAME TO inbox_other_days_handled_at;
       CREATE TABLE inbox (LIKE inbox_other_days INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (message_id, queue))
         PARTITION BY RANGE (message_id);
       CREATE INDEX inbox_not_applied ON inbox ${notApplied};
       ALTER TABLE inbox ATTACH PARTITION inbox_other_days DEFAULT;
       -- One row once a day was dropped: the range of the message ids of the dropped days.
       CREATE TABLE inbox_dropped (
         only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
         first_id uuid NOT NULL,
         end_id uuid NOT NULL
       );
     END $$`,
  );
}
