import { type Database, BatchLoader, type Sql, statement, type Trace } from '@fulfilment/database';
import { isOutage } from '@fulfilment/error-envelope';
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from 'oidc-provider';

/** A record as it is stored. */
export interface NewRow {
  readonly model: string;
  /** As it is stored: for a secret, its hash. */
  readonly id: string;
  readonly payload: object;
  readonly grant_id: string | null;
  readonly account_id: string | null;
  readonly client_id: string | null;
  readonly session_uid: string | null;
  readonly expires_at: Date | null;
}

export interface Consumption {
  readonly model: string;
  readonly id: string;
}

/** What the error of a request says that was second by a hair. */
export const consumedInParallel = 'consumed by a parallel request';
export const familyEnded = 'the grant ended';

/** What one request stores. */
interface Write {
  readonly grant_id: string | null;
  readonly model: string | null;
  readonly id: string | null;
  readonly members: readonly NewRow[];
}

interface Written {
  readonly family_lives: boolean;
  readonly consumed: boolean;
}

/**
 * All that exchanges and refreshes store, those of several requests in one statement; of each request all of it or nothing. The lock
 * on the Grant keeps a family from ending meanwhile, and comes first, as in the family's end: the two never deadlock. Of several
 * that consume the same token, here or in another transaction, one finds it unconsumed; others wait for its row and then do not.
 * LATERAL and LIMIT keep it at index lookups, whatever the planner believes of the table, and IS NOT DISTINCT FROM, which no index
 * serves, at those by the token: a family has many members.
 */
const writeTokens = statement(
  'oidc.write-tokens',
  `WITH wanted AS MATERIALIZED (
     SELECT input.index, input.model, input.id, input.members, coalesce(input.grant_id, token.grant_id) AS grant_id
     FROM jsonb_to_recordset($1::jsonb) AS input (index integer, grant_id text, model text, id text, members jsonb)
     LEFT JOIN LATERAL (
       SELECT grant_id FROM oidc_model
       WHERE input.grant_id IS NULL AND model = input.model AND id = input.id LIMIT 1) AS token ON true),
   family AS MATERIALIZED (
     SELECT locked.id FROM (SELECT DISTINCT grant_id FROM wanted ORDER BY grant_id) AS named
     CROSS JOIN LATERAL (
       SELECT id FROM oidc_model WHERE model = 'Grant' AND id = named.grant_id LIMIT 1 FOR KEY SHARE) AS locked),
   first AS MATERIALIZED (
     SELECT DISTINCT ON (wanted.model, wanted.id) wanted.index, wanted.model, wanted.id, token.place
     FROM wanted JOIN family ON family.id = wanted.grant_id
     CROSS JOIN LATERAL (
       SELECT ctid AS place FROM oidc_model
       WHERE model = wanted.model AND id = wanted.id AND grant_id IS NOT DISTINCT FROM family.id AND consumed_at IS NULL
       LIMIT 1) AS token
     ORDER BY wanted.model, wanted.id, wanted.index),
   consumed AS (
     UPDATE oidc_model SET consumed_at = $2
     WHERE ctid = ANY (ARRAY(SELECT place FROM first)) AND consumed_at IS NULL
     RETURNING model, id),
   won AS MATERIALIZED (SELECT first.index FROM first JOIN consumed USING (model, id)),
   added AS (
     INSERT INTO oidc_model (model, id, payload, grant_id, account_id, client_id, session_uid, expires_at)
     SELECT member.model, member.id, member.payload, family.id, member.account_id, member.client_id,
            member.session_uid, member.expires_at
     FROM wanted JOIN family ON family.id = wanted.grant_id
     CROSS JOIN LATERAL jsonb_to_recordset(wanted.members) AS member (model text, id text, payload jsonb,
       account_id text, client_id text, session_uid text, expires_at timestamptz)
     WHERE wanted.model IS NULL OR wanted.index IN (SELECT index FROM won))
   SELECT wanted.index, family.id IS NOT NULL AS family_lives, won.index IS NOT NULL AS consumed
   FROM wanted LEFT JOIN family ON family.id = wanted.grant_id LEFT JOIN won ON won.index = wanted.index`,
);

const findStored = statement('oidc.find-stored', 'SELECT 1 FROM oidc_model WHERE model = $1 AND id = $2');

/** How long a write whose answer was lost is settled: a server that crashed is back by then. */
const settledWithinMs = 8_000;
const tryAgainMs = 50;

/** Stores what requests write, those that come at the same time by one statement and one commit. */
export class TokenWriter {
  private readonly gathered: BatchLoader<Write, Written>;

  constructor(private readonly database: Database) {
    this.gathered = new BatchLoader({ run: (writes) => writeAll(database, writes), maxConcurrent: 4 });
  }

  /** A write that failed with others is tried again by itself, so nobody fails for another's sake: what failed stored nothing. */
  async write(write: Write): Promise<Written | undefined> {
    try {
      return await this.gathered.load(write);
    } catch (error) {
      if (wasRefused(error)) return (await writeAll(this.database, [write]))[0]?.row;
      if (isOutage(error) && write.model !== null) return this.settle(write, error);
      throw error;
    }
  }

  /**
   * The connection was lost, and with it the answer: it may be stored, may be stored yet, or may never be. Else the client would be
   * left with a token that was used, and without its successor. The write itself settles it, since it takes effect once: whoever
   * finds the token consumed, and the successor stored, had won already.
   */
  private async settle(write: Write, lost: unknown): Promise<Written | undefined> {
    const endsAtMs = performance.now() + settledWithinMs;
    for (;;) {
      try {
        const written = (await writeAll(this.database, [write]))[0]?.row;
        return (await this.isStored(write)) ? { family_lives: true, consumed: true } : written;
      } catch (error) {
        if (!isOutage(error) || performance.now() > endsAtMs) throw lost;
        await delay(tryAgainMs);
      }
    }
  }

  private async isStored({ members }: Write): Promise<boolean> {
    const trace = traceOf(members);
    return trace !== undefined && (await this.database.row(trace.written, trace.values)) !== undefined;
  }
}

/** What a token request will store of its family, in the order in which it was said. */
export class TokenWrites {
  private consumption: Consumption | undefined;
  private members: NewRow[] = [];

  get any(): boolean {
    return this.consumption !== undefined || this.members.length > 0;
  }

  /** Of a token it stores: there when all of them are. */
  get trace(): Trace | undefined {
    return traceOf(this.members);
  }

  clear(): void {
    this.consumption = undefined;
    this.members = [];
  }

  /** @throws when a second one comes: a request exchanges one code or refreshes one token */
  consume(consumption: Consumption): void {
    if (this.consumption !== undefined) throw new Error('A token request consumes one token.');
    this.consumption = consumption;
  }

  /** @throws for a member of another family */
  add(member: NewRow): void {
    const [first = member] = this.members;
    if (member.grant_id === null || member.grant_id !== first.grant_id)
      throw new Error('A token request adds to one family.');
    this.members.push(member);
  }

  /** @throws InvalidGrant when another request was first, or the family has ended: then nothing was stored */
  async store(into: TokenWriter | Sql): Promise<void> {
    const { consumption, members } = this;
    const write: Write = {
      grant_id: members[0]?.grant_id ?? null,
      model: consumption?.model ?? null,
      id: consumption?.id ?? null,
      members,
    };
    const written =
      into instanceof TokenWriter ? await into.write(write) : (await writeAll(into, [write]))[0]?.row;
    if (written?.family_lives !== true) throw new errors.InvalidGrant({ detail: familyEnded });
    if (consumption !== undefined && !written.consumed)
      throw new errors.InvalidGrant({ detail: consumedInParallel });
  }
}

function traceOf([first]: readonly NewRow[]): Trace | undefined {
  return first && { written: findStored, values: [first.model, first.id] };
}

async function writeAll(sql: Sql, writes: readonly Write[]): Promise<{ index: number; row: Written }[]> {
  const input = JSON.stringify(writes.map((write, index) => ({ ...write, index })));
  const rows = await sql.rows<Written & { index: number }>(writeTokens, [input, new Date()]);
  return rows.map((row) => ({ index: row.index, row }));
}

/** PostgreSQL refused the statement, a deadlock for example; a connection that was lost may have committed it. */
function wasRefused(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Reflect.get(error, 'severity') === 'ERROR';
}
