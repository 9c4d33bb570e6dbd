/** SQL of the tables of every service that sends or receives messages, for its baseline migration. */
export const createMessagingTables = `
  CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id uuid NOT NULL,
    type text NOT NULL,
    body jsonb NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now()
  );

  -- Its partitions are days, by the time in the message id (ADR 49).
  CREATE TABLE inbox (
    message_id uuid NOT NULL,
    queue text NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('applied', 'refused')),
    reason text,
    handled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (message_id, queue)
  ) PARTITION BY RANGE (message_id);
  CREATE INDEX inbox_not_applied ON inbox (handled_at) WHERE outcome <> 'applied';
  CREATE TABLE inbox_other_days PARTITION OF inbox DEFAULT;
  CREATE INDEX inbox_other_days_handled_at ON inbox_other_days (handled_at);
  -- One row once a day was dropped: the range of the message ids of the dropped days.
  CREATE TABLE inbox_dropped (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    first_id uuid NOT NULL,
    end_id uuid NOT NULL
  );
`;
