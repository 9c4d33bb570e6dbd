import { createMessagingTables, dropMessagingTables } from '@fulfilment/messaging';
import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AccountsAndTokens implements MigrationInterface {
  readonly name = 'AccountsAndTokens1767225600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(accounts);
    await runner.query(tokens);
    await runner.query(auditLog);
    await runner.query(createMessagingTables);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(dropMessagingTables);
    await runner.query(`
      DROP TABLE audit_log;
      DROP FUNCTION refuse_audit_change;
      DROP TABLE revoked_tokens, signing_keys, consents, oidc_model;
      DROP TABLE creators, memberships, users, organisations;
    `);
  }
}

const accounts = `
  CREATE TABLE organisations (
    id text PRIMARY KEY CHECK (id ~ '^[a-z0-9_]{1,64}$'),
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    email_verified boolean NOT NULL DEFAULT true,
    name text,
    password_hash text NOT NULL,
    password_changed_at timestamptz NOT NULL DEFAULT now(),
    global_admin boolean NOT NULL DEFAULT false,
    disabled_at timestamptz,
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
    payment_method text CHECK (payment_method IN ('pm_ok', 'pm_declined', 'pm_timeout')),
    payment_terms_accepted boolean NOT NULL,
    tax_interview_completed boolean NOT NULL,
    settlement_currency text NOT NULL CHECK (settlement_currency ~ '^[A-Z]{3}$'),
    version integer NOT NULL DEFAULT 1,
    registered_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX creators_organisation ON creators (organisation_id, registered_at, id);
`;

/**
 * What oidc-provider stores, by model. A Grant row is one authorization: the head of its family of tokens. Rows of
 * RefreshToken, AuthorizationCode, Session and RegistrationAccessToken are known by the SHA-256 of what the client holds.
 */
const tokens = `
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

  CREATE TABLE consents (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id text NOT NULL,
    creator_id uuid REFERENCES creators (id),
    scopes text[] NOT NULL,
    given_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (user_id, client_id, creator_id)
  );
  CREATE INDEX consents_client ON consents (client_id);

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
  CREATE TABLE audit_log (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    event text NOT NULL,
    user_id uuid,
    client_id text,
    ip text,
    user_agent text,
    details jsonb NOT NULL DEFAULT '{}'
  );
  CREATE INDEX audit_log_user ON audit_log (user_id, position) WHERE user_id IS NOT NULL;
  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'audit_log only grows'; END $$;
  CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
`;
