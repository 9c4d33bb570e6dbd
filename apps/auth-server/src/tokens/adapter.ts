import { type Statement, statement } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';
import type { Outbox } from '@fulfilment/messaging';
import Provider, { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import { storeClient } from '../registration/store-client.js';
import { isReadable } from '../requests/unreadable-text.js';
import type { Families } from './families.js';
import { isFamilyMember, isSecret, storedId } from './stored-models.rules.js';
import { notEnded, type StoredRow, type StoredRows } from './stored-rows.js';
import { consumedInParallel, familyEnded, type NewRow } from './token-writes.js';
import type { UnitOfWork } from './unit-of-work.js';

const columns = 'model, id, payload, grant_id, account_id, client_id, session_uid, expires_at';
const upsert = statement(
  'oidc.upsert',
  `INSERT INTO oidc_model (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   ON CONFLICT (model, id) DO UPDATE SET payload = EXCLUDED.payload, account_id = EXCLUDED.account_id,
     session_uid = EXCLUDED.session_uid, expires_at = EXCLUDED.expires_at`,
);
// The lock on the Grant keeps a family from ending while a token is added to it, and adds none to one that ended.
const insertMember = statement(
  'oidc.insert-member',
  `INSERT INTO oidc_model (${columns}) SELECT $1, $2, $3, $4, $5, $6, $7, $8
   FROM (SELECT 1 FROM oidc_model WHERE model = 'Grant' AND id = $4 FOR KEY SHARE) AS family`,
);
const keepClient = statement(
  'oidc.keep-client',
  `UPDATE oidc_model SET expires_at = NULL WHERE model = 'Client' AND id = $1 AND expires_at IS NOT NULL`,
);
const rememberOnce = statement(
  'oidc.remember-once',
  `INSERT INTO oidc_model (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
);
const findSession = statement(
  'oidc.find-session',
  `SELECT payload FROM oidc_model WHERE session_uid = $1 AND model = 'Session' AND ${notEnded}`,
);
const consume = statement(
  'oidc.consume',
  'UPDATE oidc_model SET consumed_at = $3 WHERE model = $1 AND id = $2 AND consumed_at IS NULL',
);
// A consumed refresh token stays known until it expires: that is how its reuse is seen. Locks in the order in which a refresh and a family's end do: the Grant, then its member.
const removeMember = statement(
  'oidc.remove-member',
  `WITH family AS MATERIALIZED (
     SELECT id FROM oidc_model WHERE model = 'Grant' AND id =
       (SELECT grant_id FROM oidc_model WHERE model = $1 AND id = $2) FOR UPDATE)
   DELETE FROM oidc_model WHERE (SELECT count(*) FROM family) >= 0 AND model = $1 AND id = $2
     AND (model <> 'RefreshToken' OR consumed_at IS NULL)`,
);
const remove = statement('oidc.remove', 'DELETE FROM oidc_model WHERE model = $1 AND id = $2');

const rememberedSecrets = 1000;

interface Row {
  payload: AdapterPayload;
}

export interface AdapterDependencies {
  readonly work: UnitOfWork;
  readonly families: Families;
  readonly stored: StoredRows;
  readonly secrets: SecretBox;
  readonly outbox: Outbox;
}

/** oidc-provider's storage on PostgreSQL, one adapter per model. */
export function adapterFactory(dependencies: AdapterDependencies): AdapterFactory {
  return (model) =>
    model === 'Client' ? new ClientAdapter(dependencies) : new ModelAdapter(model, dependencies);
}

class ModelAdapter implements Adapter {
  constructor(
    protected readonly model: string,
    protected readonly dependencies: AdapterDependencies,
  ) {}

  protected async run(statement: Statement, values: readonly unknown[]): Promise<number> {
    return (await this.dependencies.work.sql()).run(statement, values);
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    const row = rowOf(this.model, id, payload);
    const values = valuesOf(row);
    if (isFamilyMember(this.model)) {
      const { tokens } = this.dependencies.work;
      if (tokens !== undefined) tokens.add(row);
      else if ((await this.run(insertMember, values)) === 0)
        throw new errors.InvalidGrant({ detail: familyEnded });
    } else if (this.model === 'ReplayDetection') {
      if ((await this.run(rememberOnce, values)) === 0)
        throw new errors.InvalidDpopProof('DPoP proof JWT Replay detected');
    } else {
      await this.run(upsert, values);
      if (this.model === 'Grant') await this.run(keepClient, [payload.clientId]);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!isReadable(id)) return undefined; // also from a header or a JWT
    const { stored, work } = this.dependencies;
    const row = await stored.find(this.model, storedId(this.model, id), await work.openSql());
    if (row === undefined) return undefined;
    return { ...row.payload, ...(isSecret(this.model) ? { jti: id } : {}), ...consumedOf(row) };
  }

  /** A session is found by its uid without the cookie's secret, which only the browser knows. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    if (!isReadable(uid)) return undefined;
    const sql = await this.dependencies.work.sql();
    return (await sql.row<Row>(findSession, [uid]))?.payload;
  }

  /** The device flow is off. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Exactly one caller wins; the others are told that the grant is invalid, at the end of a unit of work or now. */
  async consume(id: string): Promise<void> {
    const key = { model: this.model, id: storedId(this.model, id) };
    const { tokens } = this.dependencies.work;
    if (isFamilyMember(this.model) && tokens !== undefined) return tokens.consume(key);
    if ((await this.run(consume, [key.model, key.id, new Date()])) > 0) return;
    if (this.model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('already used');
    throw new errors.InvalidGrant({ detail: consumedInParallel });
  }

  async destroy(id: string): Promise<void> {
    if (this.model === 'Grant') await this.dependencies.families.end(id);
    else if (this.model === 'AccessToken') await this.dependencies.families.endAccessToken(id);
    else
      await this.run(isFamilyMember(this.model) ? removeMember : remove, [
        this.model,
        storedId(this.model, id),
      ]);
  }

  /** Nothing here: oidc-provider destroys the Grant next, which ends the whole family at once, or means to keep it. */
  revokeByGrantId(): Promise<void> {
    return Promise.resolve();
  }
}

/** Clients: their secrets are encrypted, and with them goes all that was issued to them. */
class ClientAdapter extends ModelAdapter {
  private readonly opened = new Map<string, string>();

  constructor(dependencies: AdapterDependencies) {
    super('Client', dependencies);
  }

  override async upsert(id: string, metadata: AdapterPayload): Promise<void> {
    const { outbox, secrets, work } = this.dependencies;
    const stored = sealedClient(secrets, id, metadata);
    const ctx = Provider.ctx;
    const origin = ctx && originOf({ ip: ctx.ip, headers: ctx.headers });
    const isChange = ctx?.oidc.route === 'client_update';
    await work.revoking((tx) => storeClient(tx, outbox, { id, isChange, metadata, stored, origin }));
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const stored = await super.find(id);
    if (stored === undefined) return undefined;
    const { client_secret_sealed: sealed, ...metadata } = stored;
    if (typeof sealed !== 'string') return metadata;
    return { ...metadata, client_secret: this.unsealed(id, sealed) };
  }

  override destroy(id: string): Promise<void> {
    return this.dependencies.families.endOfClient(id);
  }

  /** Known by what is stored, so another secret is another entry. oidc-provider keeps the clients it has read in the same way. */
  private unsealed(id: string, sealed: string): string {
    const key = `${id}:${sealed}`;
    const known = this.opened.get(key);
    if (known !== undefined) return known;
    const secret = clientSecret(this.dependencies.secrets, id, sealed);
    if (this.opened.size >= rememberedSecrets) this.opened.clear();
    this.opened.set(key, secret);
    return secret;
  }
}

/** Whose secret it is, by type: the sealed secret of a client opens as nothing else. */
export function clientSecretOwner(clientId: string): string {
  return `client:${clientId}`;
}

/** A client's metadata as it is stored: JSON, its secret encrypted. */
export function sealedClient(secrets: SecretBox, id: string, metadata: AdapterPayload): string {
  const { client_secret: secret, ...rest } = metadata;
  if (secret === undefined) return JSON.stringify(rest);
  return JSON.stringify({
    ...rest,
    client_secret_sealed: secrets.seal(secret, clientSecretOwner(id)).toString('base64'),
  });
}

/** What stands in `client_secret_sealed`. */
export function clientSecret(secrets: SecretBox, id: string, sealed: string): string {
  return secrets.open(Buffer.from(sealed, 'base64'), clientSecretOwner(id), id).toString();
}

/** Records repeat what the client holds: as their `jti`, and an interaction as its session's cookie. */
function withoutSecret(model: string, payload: AdapterPayload): AdapterPayload {
  if (isSecret(model)) return { ...payload, jti: undefined };
  if (model !== 'Interaction' || payload.session === undefined) return payload;
  return { ...payload, session: { ...payload.session, cookie: undefined } };
}

function consumedOf(row: StoredRow): { consumed?: number } {
  return row.consumed === null ? {} : { consumed: row.consumed };
}

function rowOf(model: string, id: string, payload: AdapterPayload): NewRow {
  return {
    model,
    id: storedId(model, id),
    payload: withoutSecret(model, payload),
    grant_id: payload.grantId ?? null,
    account_id: payload.accountId ?? null,
    client_id: payload.clientId ?? null,
    session_uid: payload.sessionUid ?? payload.uid ?? null,
    expires_at: payload.exp === undefined ? null : new Date(payload.exp * 1000),
  };
}

/** In the order of `columns`. */
function valuesOf(row: NewRow): unknown[] {
  const { model, id, grant_id, account_id, client_id, session_uid, expires_at } = row;
  return [model, id, JSON.stringify(row.payload), grant_id, account_id, client_id, session_uid, expires_at];
}
