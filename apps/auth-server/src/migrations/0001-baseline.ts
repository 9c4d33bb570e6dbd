import { createMessagingTables } from '@fulfilment/messaging';
import { createOperatorAudit } from '@fulfilment/service-host/operator';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const accounts = `
  CREATE TABLE organisations (
    id text PRIMARY KEY CHECK (id ~ '^[a-z0-9_]{1,64}$'),
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    email_verified boolean NOT NULL DEFAULT false,
    name text,
    password_hash text NOT NULL,
    password_changed_at timestamptz NOT NULL DEFAULT now(),
    global_admin boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
    -- When the personal data was redacted (ops user redact).
    redacted_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE UNIQUE INDEX users_email ON users (lower(email));

  CREATE TABLE memberships (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    organisation_id text NOT NULL REFERENCES organisations (id),
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, organisation_id)
  );

  CREATE TABLE creators (
    id uuid PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisations (id),
    name text,
    payment_method text CHECK (payment_method ~ '^pm_[A-Za-z0-9_]{1,250}$'),
    payment_terms_accepted boolean NOT NULL,
    tax_interview_completed boolean NOT NULL,
    settlement_currency text NOT NULL CHECK (settlement_currency ~ '^[A-Z]{3}$'),
    version integer NOT NULL DEFAULT 1,
    registered_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX creators_organisation ON creators (organisation_id, registered_at, id);
`;

const signIn = `
  CREATE TABLE second_factors (
    user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret_encrypted bytea NOT NULL,
    -- Time step of the last accepted code: each code is accepted once (RFC 6238 §5.2).
    last_step bigint NOT NULL DEFAULT 0,
    wrong_codes integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    confirmed_at timestamptz
  );

  CREATE TABLE recovery_codes (
    user_id uuid NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (user_id, code_hash)
  );

  CREATE TABLE browser_sessions (
    uid text PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    ip text NOT NULL,
    user_agent text,
    signed_in_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX browser_sessions_user ON browser_sessions (user_id, signed_in_at);
  CREATE INDEX browser_sessions_expires ON browser_sessions (expires_at);

  -- Guesses at passwords and codes (ADR 29), and the counts of audit records that are not yet written
  -- (locked_*). UNLOGGED: a count matters for minutes, and a commit that does not wait for the disk keeps a
  -- sign-in fast.
  CREATE UNLOGGED TABLE guess_counts (
    subject text PRIMARY KEY,
    failed integer NOT NULL DEFAULT 0,
    failed_at timestamptz,
    trying integer NOT NULL DEFAULT 0,
    trying_until timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL DEFAULT now(),
    locked_attempts integer NOT NULL DEFAULT 0,
    locked_from timestamptz,
    locked_until timestamptz,
    locked_record jsonb
  ) WITH (fillfactor = 50);
  CREATE INDEX guess_counts_expires ON guess_counts (expires_at);
  CREATE INDEX guess_counts_locked ON guess_counts (locked_until) WHERE locked_attempts > 0;

  CREATE UNLOGGED TABLE network_sign_ins (
    network text NOT NULL,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    signed_in_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (network, user_id)
  );
  CREATE INDEX network_sign_ins_at ON network_sign_ins (signed_in_at);
`;

const tokens = `
  -- The models of oidc-provider. A Grant is one authorization: the head of its family of tokens. The id of a
  -- RefreshToken, AuthorizationCode, Session or RegistrationAccessToken is the SHA-256 of the client's value.
  CREATE TABLE oidc_model (
    model text NOT NULL,
    id text NOT NULL,
    payload jsonb NOT NULL,
    grant_id text,
    account_id text,
    client_id text,
    session_uid text,
    consumed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    PRIMARY KEY (model, id)
  ) WITH (fillfactor = 85);
  CREATE INDEX oidc_model_grant ON oidc_model (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX oidc_model_session ON oidc_model (session_uid) WHERE session_uid IS NOT NULL;
  CREATE INDEX oidc_model_client ON oidc_model (client_id) WHERE model IN ('Grant', 'RegistrationAccessToken');
  CREATE INDEX oidc_model_account ON oidc_model (account_id) WHERE model IN ('Grant', 'Session');
  CREATE INDEX oidc_model_expires ON oidc_model (expires_at) WHERE expires_at IS NOT NULL;
  -- Finds the first-party clients: no other client may register one of their names.
  CREATE INDEX oidc_model_first_party ON oidc_model (id)
    WHERE model = 'Client' AND payload ->> 'first_party' = 'true';

  CREATE TABLE consents (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id text NOT NULL,
    creator_id uuid REFERENCES creators (id),
    scopes text[] NOT NULL,
    given_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (user_id, client_id, creator_id)
  );
  -- A disconnection checks whether another user has connected the app to the creator.
  CREATE INDEX consents_connection ON consents (client_id, creator_id);

  CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    alg text NOT NULL CHECK (alg IN ('ES256', 'RS256')),
    state text NOT NULL CHECK (state IN ('next', 'active', 'retiring')),
    jwk_encrypted bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    activated_at timestamptz,
    retired_at timestamptz
  );
  CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (alg) WHERE state = 'active';
  CREATE UNIQUE INDEX signing_keys_one_next ON signing_keys (alg) WHERE state = 'next';

  CREATE TABLE revoked_tokens (
    jti text PRIMARY KEY,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX revoked_tokens_expires ON revoked_tokens (expires_at);
`;

const auditLog = `
  CREATE SEQUENCE audit_log_positions;
  CREATE TABLE audit_log (
    position bigint NOT NULL DEFAULT nextval('audit_log_positions'),
    at timestamptz NOT NULL DEFAULT now(),
    event text NOT NULL,
    user_id uuid,
    client_id text,
    ip text,
    user_agent text,
    details jsonb NOT NULL DEFAULT '{}'
  ) PARTITION BY RANGE (at);
  -- One index for each filter of ops audit, in the order of its pages.
  CREATE INDEX audit_log_at ON audit_log (at, position);
  CREATE INDEX audit_log_event ON audit_log (event, at, position);
  CREATE INDEX audit_log_of_user ON audit_log (user_id, at, position) WHERE user_id IS NOT NULL;
  CREATE INDEX audit_log_of_client ON audit_log (client_id, at, position) WHERE client_id IS NOT NULL;

  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'audit_log only grows'; END $$;
  CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

  -- The first partition ends with the month (UTC) that tomorrow belongs to. audit/audit-partitions.ts creates
  -- those of the following months.
  DO $$ BEGIN
    EXECUTE format('CREATE TABLE audit_log_earlier PARTITION OF audit_log FOR VALUES FROM (MINVALUE) TO (%L)',
      (date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 day') + interval '1 month') AT TIME ZONE 'UTC');
  END $$;
  -- A statement that names the partition does not fire the statement trigger of audit_log.
  CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log_earlier
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
`;

/** The schema of version 1.0.0, in one migration (ADR 37). */
export class Baseline implements MigrationInterface {
  readonly name = 'Baseline1795392000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(accounts + signIn + tokens + auditLog);
    await runner.query(createMessagingTables + createOperatorAudit);
  }

  down(): Promise<void> {
    throw new Error('The baseline cannot be reverted. Drop the database instead.');
  }
}
