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
