/** SQL for a migration. `response` is `json` to keep the order of members; null only before the commit. */
export const createIdempotencyKeys = `
  CREATE TABLE idempotency_keys (
    creator_id uuid NOT NULL,
    client_id text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    response json,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (creator_id, client_id, key)
  );
  CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
`;
