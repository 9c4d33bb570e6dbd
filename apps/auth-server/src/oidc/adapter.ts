import { type Statement, statement, type Values } from '@fulfilment/database';
import { LRUCache } from 'lru-cache';
import Provider, { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import { openClientSecret } from '../registration/client-secret.js';
import { storeClient } from '../registration/store-client.js';
import { isMfaAuthenticated } from '../second-factor/authentication-methods.js';
import { isStorableText } from '../http/storable-text.js';
import { hasSecretId, isFamilyMember, storedId } from '../tokens/stored-models.rules.js';
import { sessionNotEndedSql } from '../tokens/stored-rows.js';
import { FamilyEnded } from '../tokens/unit-of-work/deferred-tokens.js';
import type { NewRow } from '../tokens/unit-of-work/token-writes.js';
import type { ProviderDependencies } from './provider-dependencies.js';

const columns = 'model, id, payload, grant_id, account_id, client_id, session_uid, expires_at';
const parameters = columns.replaceAll(/\w+/g, (column) => `:${column}`);
const upsert = statement(
  'oidc.upsert',
  `INSERT INTO oidc_model (${columns}) VALUES (${parameters})
   ON CONFLICT (model, id) DO UPDATE SET payload = EXCLUDED.payload, account_id = EXCLUDED.account_id,
     session_uid = EXCLUDED.session_uid, expires_at = EXCLUDED.expires_at`,
);
// No code is added to an ended family. Nor is one if the person got a new password, or the role global_admin
// without a second factor, after the session was checked: both end the families that they find, and this
// family may have begun before their commit. The locks wait for these changes, and are taken in their order.
const insertCode = statement(
  'oidc.insert-code',
  `WITH person AS MATERIALIZED (
     SELECT (:payload::jsonb ->> 'authTime')::bigint < extract(epoch FROM password_changed_at)
       OR (global_admin AND :lacks_factor_of_admins) AS must_sign_in
     FROM users WHERE id = :account_id::text::uuid FOR SHARE)
   INSERT INTO oidc_model (${columns}) SELECT ${parameters}
   FROM person CROSS JOIN LATERAL (
     SELECT 1 FROM oidc_model WHERE model = 'Grant' AND id = :grant_id AND NOT person.must_sign_in
     FOR KEY SHARE) AS family`,
);
const insertOnce = statement(
  'oidc.insert-once',
  `INSERT INTO oidc_model (${columns}) VALUES (${parameters}) ON CONFLICT DO NOTHING`,
);
const findSession = statement(
  'oidc.find-session',
  `SELECT payload FROM oidc_model WHERE session_uid = $1 AND model = 'Session' AND ${sessionNotEndedSql}`,
);
const consume = statement(
  'oidc.consume',
  'UPDATE oidc_model SET consumed_at = $3 WHERE model = $1 AND id = $2 AND consumed_at IS NULL',
);
const remove = statement('oidc.remove', 'DELETE FROM oidc_model WHERE model = $1 AND id = $2');

const maxOpenedSecrets = 1000;

/** oidc-provider's storage on PostgreSQL, one adapter per model. */
export function adapterFactory(dependencies: ProviderDependencies): AdapterFactory {
  return (model) =>
    model === 'Client' ? new ClientAdapter(dependencies) : new ModelAdapter(model, dependencies);
}

class ModelAdapter implements Adapter {
  constructor(
    protected readonly model: string,
    protected readonly dependencies: ProviderDependencies,
  ) {}

  protected async run(write: Statement, values: Values): Promise<number> {
    return (await this.dependencies.unitOfWork.openForWrites()).run(write, values);
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    const row = rowOf(this.model, id, payload);
    if (isFamilyMember(this.model)) return this.addMember(row, payload);
    if (this.model === 'ReplayDetection') return this.addDpopProof(row);
    await this.run(upsert, valuesOf(row));
  }

  /** Adds a token to its family: at the commit of a unit of work; a code, which has no unit, immediately. */
  private async addMember(row: NewRow, { amr }: AdapterPayload): Promise<void> {
    const { factors, unitOfWork } = this.dependencies;
    const { deferredTokens } = unitOfWork;
    if (deferredTokens !== undefined)
      return deferredTokens.add(row, Provider.ctx?.oidc.entities.Grant?.roleVersion);
    const lacksFactor = factors.isRequiredByRole({ global_admin: true }) && !isMfaAuthenticated(amr);
    const values = { ...valuesOf(row), lacks_factor_of_admins: lacksFactor };
    if ((await this.run(insertCode, values)) === 0) throw new FamilyEnded();
  }

  private async addDpopProof(row: NewRow): Promise<void> {
    if ((await this.run(insertOnce, valuesOf(row))) === 0)
      throw new errors.InvalidDpopProof('DPoP proof JWT Replay detected');
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    // PostgreSQL cannot store NUL or lone surrogates. Ids in forms were checked earlier; ids in headers and
    // JWTs are checked here.
    if (!isStorableText(id)) return undefined;
    const { storedRows, unitOfWork } = this.dependencies;
    const row = await storedRows.takeOrRead(
      this.model,
      storedId(this.model, id),
      await unitOfWork.currentTransaction(),
    );
    if (row === undefined) return undefined;
    const { payload, consumed } = row;
    return {
      ...payload,
      ...(hasSecretId(this.model) && { jti: id }),
      ...(consumed !== null && { consumed }),
    };
  }

  /**
   * Finds a session, without its `jti`: only the browser's cookie has this secret. Called for interactions,
   * which have no unit of work.
   */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    if (!isStorableText(uid)) return undefined;
    const sql = await this.dependencies.unitOfWork.openForWrites();
    return (await sql.row<{ payload: AdapterPayload }>(findSession, [uid]))?.payload;
  }

  /** The device flow is off. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Marks a code or refresh token as used at the commit of the unit of work, or a pushed request, which has
   * no unit, immediately. Of concurrent callers exactly one wins; the others get an error.
   */
  async consume(id: string): Promise<void> {
    const rowId = storedId(this.model, id);
    const { deferredTokens } = this.dependencies.unitOfWork;
    if (deferredTokens !== undefined) return deferredTokens.consume(this.model, rowId);
    if ((await this.run(consume, [this.model, rowId, new Date()])) === 0)
      throw new errors.InvalidRequestUri('already used');
  }

  /**
   * Deletes a row. A refresh token stays: oidc-provider destroys one only with its family, which then ends as
   * a whole, or when it was used before, and then it stays until it expires, so that its reuse is detected.
   */
  async destroy(id: string): Promise<void> {
    if (this.model === 'Grant') await this.dependencies.families.end(id);
    else if (this.model === 'AccessToken') await this.dependencies.families.endAccessToken(id);
    else if (this.model !== 'RefreshToken') await this.run(remove, [this.model, storedId(this.model, id)]);
  }

  /**
   * Does nothing. oidc-provider calls it for every token model. If `revokeGrantPolicy` returns true, it also
   * destroys the Grant, which ends the whole family; otherwise the tokens of the family stay.
   */
  revokeByGrantId(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Storage of clients: their secrets are sealed, and the deletion of a client deletes everything issued to it.
 */
class ClientAdapter extends ModelAdapter {
  /** Avoids a decryption per request. A key contains the ciphertext, so it changes with the secret. */
  private readonly openedSecrets = new LRUCache<string, string>({ max: maxOpenedSecrets });

  constructor(dependencies: ProviderDependencies) {
    super('Client', dependencies);
  }

  override async upsert(id: string, metadata: AdapterPayload): Promise<void> {
    const { outbox, secrets, unitOfWork } = this.dependencies;
    const ctx = Provider.ctx;
    const origin = ctx === undefined ? undefined : originOf(ctx);
    const isChange = ctx?.oidc.route === 'client_update';
    // A change of the client's identity ends its token families, so this may revoke tokens.
    await unitOfWork.runRevocation((tx) =>
      storeClient(tx, outbox, secrets, { id, isChange, metadata, origin }),
    );
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const stored = await super.find(id);
    if (stored === undefined) return undefined;
    const { client_secret_sealed: sealed, ...metadata } = stored;
    if (typeof sealed !== 'string') return metadata;
    return { ...metadata, client_secret: this.openSecret(id, sealed) };
  }

  override destroy(id: string): Promise<void> {
    return this.dependencies.families.deleteClient(id);
  }

  private openSecret(id: string, sealed: string): string {
    const key = `${id}:${sealed}`;
    const known = this.openedSecrets.get(key);
    if (known !== undefined) return known;
    const secret = openClientSecret(this.dependencies.secrets, id, sealed);
    this.openedSecrets.set(key, secret);
    return secret;
  }
}

/** Returns a payload without the secrets in it: a secret `jti`, or the session cookie of an interaction. */
function withoutSecret(model: string, payload: AdapterPayload): AdapterPayload {
  if (hasSecretId(model)) return { ...payload, jti: undefined };
  if (model !== 'Interaction' || payload.session === undefined) return payload;
  return { ...payload, session: { ...payload.session, cookie: undefined } };
}

function valuesOf(row: NewRow): Values {
  return { ...row, payload: JSON.stringify(row.payload) };
}

function rowOf(model: string, id: string, payload: AdapterPayload): NewRow {
  return {
    model,
    id: storedId(model, id),
    payload: withoutSecret(model, payload),
    grant_id: payload.grantId ?? null,
    account_id: payload.accountId ?? null,
    client_id: payload.clientId ?? null,
    session_uid: payload.sessionUid ?? payload.uid ?? null, // a token's session, or the row's own uid
    expires_at: payload.exp === undefined ? null : new Date(payload.exp * 1000),
  };
}
