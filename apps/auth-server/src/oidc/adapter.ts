import { type Sql, statement } from '@fulfilment/database';
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import { seal, unseal } from '../keys/sealed.js';
import type { Families } from './families.js';
import { isFamilyMember, isSecret, storedId } from './stored-models.rules.js';
import type { UnitOfWork } from './unit-of-work.js';
import { isReadable } from './unreadable-text.js';

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
// A client that registered itself and that nobody ever authorized is forgotten after 30 days.
const upsertClient = statement(
  'oidc.upsert-client',
  `INSERT INTO oidc_model (model, id, payload, expires_at) VALUES ('Client', $1, $2, now() + interval '30 days')
   ON CONFLICT (model, id) DO UPDATE SET payload = EXCLUDED.payload`,
);
const keepClient = statement(
  'oidc.keep-client',
  `UPDATE oidc_model SET expires_at = NULL WHERE model = 'Client' AND id = $1 AND expires_at IS NOT NULL`,
);
const rememberOnce = statement(
  'oidc.remember-once',
  `INSERT INTO oidc_model (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
);
const find = statement(
  'oidc.find',
  `SELECT payload, extract(epoch FROM consumed_at)::float8 AS consumed FROM oidc_model WHERE model = $1 AND id = $2
     AND (model <> 'Client' OR expires_at IS NULL OR expires_at > now())`,
);
const findSession = statement(
  'oidc.find-session',
  `SELECT payload, NULL::float8 AS consumed FROM oidc_model WHERE session_uid = $1 AND model = 'Session'`,
);
// Locks in the order in which a family's end takes them: the Grant, then its member.
const consumeMember = statement(
  'oidc.consume-member',
  `UPDATE oidc_model AS member SET consumed_at = $3
   FROM (SELECT id FROM oidc_model WHERE model = 'Grant' AND id =
           (SELECT grant_id FROM oidc_model WHERE model = $1 AND id = $2) FOR KEY SHARE) AS family
   WHERE member.model = $1 AND member.id = $2 AND member.grant_id = family.id AND member.consumed_at IS NULL`,
);
const consume = statement(
  'oidc.consume',
  'UPDATE oidc_model SET consumed_at = $3 WHERE model = $1 AND id = $2 AND consumed_at IS NULL',
);
// A consumed refresh token stays known until it expires: that is how its reuse is seen.
const remove = statement(
  'oidc.remove',
  `DELETE FROM oidc_model WHERE model = $1 AND id = $2 AND (model <> 'RefreshToken' OR consumed_at IS NULL)`,
);

/** What the error of a request says that waited for the winner's commit. */
export const consumedInParallel = 'consumed by a parallel request';

interface Row {
  payload: AdapterPayload;
  consumed: number | null;
}

export interface AdapterDependencies {
  readonly work: UnitOfWork;
  readonly families: Families;
  readonly keyEncryptionKey: Buffer;
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

  protected get sql(): Sql {
    return this.dependencies.work.sql;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    const values = [
      this.model,
      storedId(this.model, id),
      JSON.stringify(withoutSecret(this.model, payload)),
      payload.grantId ?? null,
      payload.accountId ?? null,
      payload.clientId ?? null,
      payload.sessionUid ?? payload.uid ?? null,
      payload.exp === undefined ? null : new Date(payload.exp * 1000),
    ];
    if (isFamilyMember(this.model)) {
      if ((await this.sql.run(insertMember, values)) === 0)
        throw new errors.InvalidGrant({ detail: 'the grant ended' });
    } else if (this.model === 'ReplayDetection') {
      if ((await this.sql.run(rememberOnce, values)) === 0)
        throw new errors.InvalidDpopProof('DPoP proof JWT Replay detected');
    } else {
      await this.sql.run(upsert, values);
      if (this.model === 'Grant') await this.sql.run(keepClient, [payload.clientId]);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!isReadable(id)) return undefined; // also from a header or a JWT
    const row = await this.sql.row<Row>(find, [this.model, storedId(this.model, id)]);
    if (row === undefined) return undefined;
    return { ...row.payload, ...(isSecret(this.model) ? { jti: id } : {}), ...consumedOf(row) };
  }

  /** A session is found by its uid without the cookie's secret, which only the browser knows. */
  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    if (!isReadable(uid)) return undefined;
    return (await this.sql.row<Row>(findSession, [uid]))?.payload;
  }

  /** The device flow is off. */
  findByUserCode(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** Exactly one caller wins; the others are told that the grant is invalid. */
  async consume(id: string): Promise<void> {
    const sql = isFamilyMember(this.model) ? consumeMember : consume;
    const won = await this.sql.run(sql, [this.model, storedId(this.model, id), new Date()]);
    if (won > 0) return;
    if (this.model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('already used');
    throw new errors.InvalidGrant({ detail: consumedInParallel });
  }

  async destroy(id: string): Promise<void> {
    if (this.model === 'Grant') await this.dependencies.families.end(id);
    else if (this.model === 'AccessToken') await this.dependencies.families.endAccessToken(id);
    else await this.sql.run(remove, [this.model, storedId(this.model, id)]);
  }

  /** Nothing here: oidc-provider destroys the Grant next, which ends the whole family at once, or means to keep it. */
  revokeByGrantId(): Promise<void> {
    return Promise.resolve();
  }
}

/** Clients: their secrets are encrypted, and with them goes all that was issued to them. */
class ClientAdapter extends ModelAdapter {
  constructor(dependencies: AdapterDependencies) {
    super('Client', dependencies);
  }

  override async upsert(id: string, metadata: AdapterPayload): Promise<void> {
    await this.sql.run(upsertClient, [id, sealedClient(this.dependencies.keyEncryptionKey, id, metadata)]);
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const stored = await super.find(id);
    if (stored === undefined) return undefined;
    const { client_secret_sealed: sealed, ...metadata } = stored;
    if (typeof sealed !== 'string') return metadata;
    const secret = unseal(this.dependencies.keyEncryptionKey, Buffer.from(sealed, 'base64'), id);
    return { ...metadata, client_secret: secret };
  }

  override destroy(id: string): Promise<void> {
    return this.dependencies.families.endOfClient(id);
  }
}

/** A client's metadata as it is stored: JSON, its secret encrypted. */
export function sealedClient(key: Buffer, id: string, metadata: AdapterPayload): string {
  const { client_secret: secret, ...rest } = metadata;
  if (secret === undefined) return JSON.stringify(rest);
  return JSON.stringify({ ...rest, client_secret_sealed: seal(key, secret, id).toString('base64') });
}

/** Records repeat what the client holds: as their `jti`, and an interaction as its session's cookie. */
function withoutSecret(model: string, payload: AdapterPayload): AdapterPayload {
  if (isSecret(model)) return { ...payload, jti: undefined };
  if (model !== 'Interaction' || payload.session === undefined) return payload;
  return { ...payload, session: { ...payload.session, cookie: undefined } };
}

function consumedOf(row: Row): { consumed?: number } {
  return row.consumed === null ? {} : { consumed: row.consumed };
}
