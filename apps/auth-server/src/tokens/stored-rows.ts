import { Injectable } from '@nestjs/common';
import { Database, BatchLoader, type Sql, statement } from '@fulfilment/database';
import { Attached } from '@fulfilment/runtime';
import Provider, { type AdapterPayload } from 'oidc-provider';
import { type Person, selectPersonSql } from '../users/read-accounts.js';

interface Key {
  readonly model: string;
  readonly id: string;
}

interface StoredRow {
  readonly payload: AdapterPayload;
  /** When the token was consumed, in seconds since 1970; null before that. */
  readonly consumed: number | null;
}

/**
 * A row with the rows that oidc-provider looks up next: its Grant, the client of an access token, and the
 * person of a code or refresh token.
 */
interface RowWithRelated extends StoredRow {
  readonly grant_id: string | null;
  readonly grant: AdapterPayload | null;
  readonly client_id: string | null;
  readonly client: AdapterPayload | null;
  readonly person: Person | null;
}

// A request in progress may save its session, or a code, after the session was ended
// (sessions/end-sessions.ts). This condition on `oidc_model` hides such rows.
export const sessionNotEndedSql = `NOT EXISTS (
  SELECT 1 FROM browser_sessions WHERE uid = oidc_model.session_uid AND ended_at IS NOT NULL)`;

// An expired client, an ended session and its unused codes are not found. A used code is, so that its reuse
// is detected. oidc-provider checks the expiry of all other rows. LATERAL and LIMIT force index lookups even
// if the table's statistics are out of date.
const findRows = statement(
  'oidc.find',
  `SELECT wanted.position::integer - 1 AS index, found.payload, found.consumed, found.grant_id, found.client_id,
          family.payload AS grant, client.payload AS client, to_jsonb(person) AS person
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (model, id, position)
   CROSS JOIN LATERAL (
     SELECT payload, extract(epoch FROM consumed_at)::float8 AS consumed, grant_id, client_id, account_id FROM oidc_model
     WHERE model = wanted.model AND id = wanted.id
       AND CASE model WHEN 'Client' THEN expires_at IS NULL OR expires_at > now()
                      WHEN 'Session' THEN ${sessionNotEndedSql}
                      WHEN 'AuthorizationCode' THEN consumed_at IS NOT NULL OR ${sessionNotEndedSql} ELSE true END LIMIT 1) AS found
   LEFT JOIN LATERAL (
     SELECT payload FROM oidc_model WHERE model = 'Grant' AND id = found.grant_id LIMIT 1) AS family ON true
   LEFT JOIN LATERAL (
     SELECT payload FROM oidc_model WHERE wanted.model = 'AccessToken' AND model = 'Client' AND id = found.client_id
       AND (expires_at IS NULL OR expires_at > now()) LIMIT 1) AS client ON true
   LEFT JOIN LATERAL (
     ${selectPersonSql(
       `CASE WHEN wanted.model IN ('AuthorizationCode', 'RefreshToken') THEN found.account_id::uuid END`,
       `(family.payload ->> 'creatorId')::uuid`,
     )}) AS person ON true`,
);

/**
 * Reads rows of `oidc_model` by model and stored id in few statements: concurrent lookups are batched, and
 * related rows included.
 */
@Injectable()
export class StoredRows {
  private readonly loader: BatchLoader<Key, RowWithRelated>;
  /**
   * Rows that were prefetched for a request, or came with another row that it read. Each is used for only one
   * lookup, since the request may change the row afterwards.
   */
  private readonly prefetched = new Attached<Map<string, Promise<StoredRow | undefined>>>();
  /** The person of a request's code or refresh token, for find-account.ts. */
  private readonly persons = new Attached<Person>();

  constructor(database: Database) {
    this.loader = new BatchLoader({
      run: (keys) => readRows(database, keys),
      // Concurrent requests share the row of a client. All other rows belong to one request.
      dedupeKey: ({ model, id }) => (model === 'Client' ? id : undefined),
    });
  }

  /** Starts to read a row that oidc-provider will look up in this request. */
  prefetch(request: object, model: string, id: string): void {
    const read = this.read(request, model, id);
    read.catch(() => undefined); // the lookup gets the error
    this.remember(request, model, id, read);
  }

  /**
   * Returns a row that oidc-provider looks up. Its lookups have no request as an argument, so the request is
   * that of `Provider.ctx`.
   * @param tx transaction of the unit of work, if open: it sees its own writes, and no second connection is
   * used
   */
  async takeOrRead(model: string, id: string, tx: Sql | undefined): Promise<StoredRow | undefined> {
    if (tx !== undefined) return (await readRows(tx, [{ model, id }]))[0]?.row;
    const request = Provider.ctx?.req;
    if (request === undefined) return this.loader.load({ model, id });
    const rows = this.prefetched.get(request);
    const prefetched = rows?.get(keyOf(model, id));
    rows?.delete(keyOf(model, id));
    return prefetched ?? this.read(request, model, id);
  }

  /** Returns an access token, even an expired one, with its Grant, for code outside oidc-provider. */
  async findAccessToken(
    jti: string,
  ): Promise<{ token: AdapterPayload; grant: AdapterPayload | null } | undefined> {
    const row = await this.loader.load({ model: 'AccessToken', id: jti });
    return row === undefined ? undefined : { token: row.payload, grant: row.grant };
  }

  /** Returns the person of the request's code or refresh token, if it was read. Only the first call does. */
  takePerson(request: object, userId: string): Person | undefined {
    const person = this.persons.get(request);
    this.persons.delete(request);
    return person?.id === userId ? person : undefined;
  }

  private async read(request: object, model: string, id: string): Promise<StoredRow | undefined> {
    const row = await this.loader.load({ model, id });
    if (row === undefined) return undefined;
    const { grant_id, grant, client_id, client, person } = row;
    if (person !== null) this.persons.set(request, person);
    if (grant_id !== null && grant !== null) this.remember(request, 'Grant', grant_id, unconsumed(grant));
    if (client_id !== null && client !== null)
      this.remember(request, 'Client', client_id, unconsumed(client));
    return row;
  }

  private remember(request: object, model: string, id: string, row: Promise<StoredRow | undefined>): void {
    const rows = this.prefetched.get(request) ?? new Map<string, Promise<StoredRow | undefined>>();
    this.prefetched.set(request, rows.set(keyOf(model, id), row));
  }
}

function unconsumed(payload: AdapterPayload): Promise<StoredRow> {
  return Promise.resolve({ payload, consumed: null });
}

function keyOf(model: string, id: string): string {
  return `${model}:${id}`;
}

async function readRows(sql: Sql, keys: readonly Key[]): Promise<{ index: number; row: RowWithRelated }[]> {
  const values = [keys.map(({ model }) => model), keys.map(({ id }) => id)];
  const found = await sql.rows<RowWithRelated & { index: number }>(findRows, values);
  return found.map((row) => ({ index: row.index, row }));
}
