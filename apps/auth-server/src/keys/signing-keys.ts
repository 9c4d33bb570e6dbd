import { type Database, statement, type Transaction } from '@fulfilment/database';
import { type Clock, type SecretBox, systemClock } from '@fulfilment/runtime';
import { insertAudit } from '../audit/audit-log.js';
import { auditOperator } from '../audit/operator-audit.js';
import { isRotationDue, spreadWaitMs } from './key-rotation.rules.js';
import {
  makeKey,
  type PrivateJwk,
  privateJwk,
  type SigningAlgorithm,
  signingAlgorithms,
} from './make-key.js';

type State = 'active' | 'next' | 'retiring';

export interface SigningKey {
  readonly jwk: PrivateJwk;
  readonly state: State;
}

/** Whose secret it is, by type: a sealed signing key opens as nothing else. */
export function signingKeyOwner(kid: string): string {
  return `signing-key:${kid}`;
}

/** What an operator may see of a key. */
export interface ListedKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly state: State;
  readonly created_at: Date;
  readonly activated_at: Date | null;
  readonly retired_at: Date | null;
}

/** The keys as they stand, those that sign first. */
export interface KeySet {
  readonly keys: readonly SigningKey[];
  /** Another one whenever any key or state is another. */
  readonly version: string;
}

interface KeyRow {
  kid: string;
  alg: SigningAlgorithm;
  state: State;
  jwk_encrypted: Buffer;
  created_at: Date;
  activated_at: Date | null;
}

const lockKeys = statement('keys.lock', 'SELECT pg_advisory_xact_lock(7391003)');
const readKeys = statement(
  'keys.read',
  `SELECT kid, alg, state, jwk_encrypted, created_at, activated_at FROM signing_keys
   ORDER BY array_position(ARRAY['active', 'next', 'retiring'], state), alg, created_at DESC, kid`,
);
const readVersion = statement(
  'keys.version',
  `SELECT coalesce(string_agg(kid || '=' || state, ',' ORDER BY kid), '') AS version FROM signing_keys`,
);
const insertKey = statement(
  'keys.insert',
  `INSERT INTO signing_keys (kid, alg, state, jwk_encrypted, created_at, activated_at)
   VALUES ($1, $2, $3, $4, $5, CASE WHEN $3 = 'active' THEN $5::timestamptz END)`,
);
const retireActive = statement(
  'keys.retire',
  `UPDATE signing_keys SET state = 'retiring', retired_at = $2 WHERE alg = $1 AND state = 'active'`,
);
const activateNext = statement(
  'keys.activate',
  `UPDATE signing_keys SET state = 'active', activated_at = $2 WHERE alg = $1 AND state = 'next'`,
);
// Access tokens live an hour, but an ID token may come back as a hint (OpenID Connect RP-Initiated Logout §2) however old: 30 days is
// more than any session lives.
const forgetRetired = statement(
  'keys.forget',
  `DELETE FROM signing_keys WHERE state = 'retiring' AND retired_at < $1::timestamptz - interval '30 days'`,
);
const removeKey = statement('keys.remove', `DELETE FROM signing_keys WHERE kid = $1 AND state <> 'active'`);
const findKey = statement('keys.find', 'SELECT 1 FROM signing_keys WHERE kid = $1');
const listKeys = statement(
  'keys.list',
  `SELECT kid, alg, state, created_at, activated_at, retired_at FROM signing_keys
   ORDER BY array_position(ARRAY['active', 'next', 'retiring'], state), alg, created_at DESC, kid`,
);
const wait = statement('keys.wait', 'SELECT pg_sleep($1::float8 / 1000)');

/**
 * The signing keys, encrypted at rest. Per algorithm one is active (it signs), one is next (already published, so that every
 * API knows it before it signs) and some are retiring (what they signed is still good). Changes happen under an advisory lock.
 */
export class SigningKeys {
  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Makes what is missing; several replicas that start together make one set. */
  async ensure(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      await this.makeMissing(tx);
    });
  }

  /**
   * The next keys sign from now on; the ones before stay published while what they signed may live. Next keys that were published this
   * very second are waited for, so that every replica publishes what another signs with. Answers the new active ids.
   */
  async rotate(): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      await this.makeMissing(tx);
      const waitMs = spreadWaitMs(await tx.rows<KeyRow>(readKeys), this.clock());
      if (waitMs > 0) await tx.rows(wait, [waitMs]);
      return this.advance(tx, 'operator');
    });
  }

  /**
   * Rotates once the active keys have signed for as many days, however many replicas ask, and when every API had the time to read the
   * next ones. Answers the new active ids, undefined when it is not time yet.
   */
  async rotateWhenDue(days: number): Promise<string[] | undefined> {
    if (!isRotationDue(await this.database.rows<KeyRow>(readKeys), days, this.clock())) return undefined;
    return this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      const due = isRotationDue(await tx.rows<KeyRow>(readKeys), days, this.clock());
      return due ? this.advance(tx, 'schedule') : undefined;
    });
  }

  /** Stops publishing keys whose signatures nobody shows any more. */
  async forgetRetired(): Promise<void> {
    await this.database.run(forgetRetired, [this.clock()]);
  }

  /**
   * Stops publishing a key that leaked: what it signed is no longer accepted, valid tokens included. A removed next key is replaced.
   * @throws Error for an active key, which still signs, and for an unknown one
   */
  async remove(kid: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      if ((await tx.run(removeKey, [kid])) === 0) {
        const exists = (await tx.row(findKey, [kid])) !== undefined;
        throw new Error(
          exists
            ? `The key ${kid} is active: rotate the keys first (keys rotate).`
            : `There is no key ${kid}.`,
        );
      }
      await this.makeMissing(tx);
      await auditOperator(tx, { event: 'signing_key_removed', details: { kid } });
    });
  }

  /** Those that sign first. */
  async list(): Promise<readonly ListedKey[]> {
    return this.database.rows<ListedKey & Record<string, unknown>>(listKeys);
  }

  /** Cheap to ask often. */
  async version(): Promise<string> {
    return (await this.database.row<{ version: string }>(readVersion))?.version ?? '';
  }

  async load(): Promise<KeySet> {
    const version = await this.version();
    const rows = await this.database.rows<KeyRow>(readKeys);
    return { keys: rows.map((row) => ({ state: row.state, jwk: this.decrypt(row) })), version };
  }

  /** @throws Error when the key encryption key is not the one of these rows */
  private decrypt({ kid, jwk_encrypted }: KeyRow): PrivateJwk {
    try {
      return privateJwk.parse(
        JSON.parse(this.secrets.open(jwk_encrypted, signingKeyOwner(kid), kid).toString()),
      );
    } catch (cause) {
      throw new Error('KEY_ENCRYPTION_KEY does not open the signing keys.', { cause });
    }
  }

  /** Adds no key that the running services could not open. */
  private async makeMissing(tx: Transaction): Promise<void> {
    const present = await tx.rows<KeyRow>(readKeys);
    for (const row of present) this.decrypt(row);
    for (const alg of signingAlgorithms) {
      for (const state of ['active', 'next'] as const) {
        if (!present.some((key) => key.alg === alg && key.state === state)) await this.insert(tx, alg, state);
      }
    }
  }

  private async advance(tx: Transaction, actor: 'operator' | 'schedule'): Promise<string[]> {
    const now = this.clock();
    for (const alg of signingAlgorithms) {
      await tx.run(retireActive, [alg, now]);
      await tx.run(activateNext, [alg, now]);
      await this.insert(tx, alg, 'next');
    }
    await tx.run(forgetRetired, [now]);
    const rows = await tx.rows<KeyRow>(readKeys);
    const active = rows.filter((row) => row.state === 'active').map((row) => row.kid);
    if (actor === 'operator') await auditOperator(tx, { event: 'keys_rotated', details: { active } });
    else await insertAudit(tx, { event: 'keys_rotated', details: { actor, active } });
    return active;
  }

  private async insert(tx: Transaction, alg: SigningAlgorithm, state: State): Promise<void> {
    const jwk = await makeKey(alg);
    const encrypted = this.secrets.seal(JSON.stringify(jwk), signingKeyOwner(jwk.kid));
    await tx.run(insertKey, [jwk.kid, alg, state, encrypted, this.clock()]);
  }
}
