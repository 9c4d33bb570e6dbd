import { Inject, Injectable } from '@nestjs/common';
import { BACKGROUND_DATABASE, type Database, statement, type Transaction } from '@fulfilment/database';
import { CLOCK, type Clock, SecretBox, systemClock } from '@fulfilment/runtime';
import { insertAudit } from '../audit/audit-log.js';
import { auditOperator } from '../audit/operator-audit.js';
import { isRotationDue, type KeyState, propagationWaitMs } from './key-rotation.rules.js';
import {
  makeKey,
  type PrivateJwk,
  privateJwk,
  type SigningAlgorithm,
  signingAlgorithms,
} from './make-key.js';

interface SigningKey {
  readonly jwk: PrivateJwk;
  readonly state: KeyState;
}

/** The `owner` that `SecretBox` binds a sealed signing key to. No other kind of secret has its prefix. */
export function signingKeyOwner(kid: string): string {
  return `signing-key:${kid}`;
}

/** A signing key as the operator commands list it. */
interface ListedKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly state: KeyState;
  readonly created_at: Date;
  readonly activated_at: Date | null;
  /** When it became `retiring`. */
  readonly retired_at: Date | null;
}

/** All current keys, active ones first. */
export interface KeySet {
  readonly keys: readonly SigningKey[];
  /** Changes when any key or state changes. */
  readonly version: string;
}

interface KeyRow extends Omit<ListedKey, 'retired_at'> {
  readonly jwk_encrypted: Buffer;
}

/** Key of the advisory lock; all versions of the service must use the same. */
const signingKeysLock = 7_391_003;
const orderSql = `ORDER BY array_position(ARRAY['active', 'next', 'retiring'], state), alg, created_at DESC, kid`;
/** Waits for a change of the keys. */
export const lockKeys = statement('keys.lock', `SELECT pg_advisory_xact_lock(${signingKeysLock})`);
const readKeys = statement(
  'keys.read',
  `SELECT kid, alg, state, jwk_encrypted, created_at, activated_at FROM signing_keys ${orderSql}`,
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
const startRetiring = statement(
  'keys.start-retiring',
  `UPDATE signing_keys SET state = 'retiring', retired_at = $2 WHERE alg = $1 AND state = 'active'`,
);
const activateNext = statement(
  'keys.activate',
  `UPDATE signing_keys SET state = 'active', activated_at = $2 WHERE alg = $1 AND state = 'next'`,
);
// Access tokens live an hour, but an ID token may be sent as a hint long after it expired (OpenID Connect
// RP-Initiated Logout §2). A hint that a deleted key signed is rejected.
const deleteExpiredRetiringKeys = statement(
  'keys.delete-old-retiring',
  `DELETE FROM signing_keys WHERE state = 'retiring' AND retired_at < $1::timestamptz - interval '30 days'`,
);
const removeKey = statement('keys.remove', `DELETE FROM signing_keys WHERE kid = $1 AND state <> 'active'`);
const findKey = statement('keys.find', 'SELECT 1 FROM signing_keys WHERE kid = $1');
const listKeys = statement(
  'keys.list',
  `SELECT kid, alg, state, created_at, activated_at, retired_at FROM signing_keys ${orderSql}`,
);
// Waits in PostgreSQL, so that the transaction with the lock is not idle.
const wait = statement('keys.wait', 'SELECT pg_sleep($1::float8 / 1000)');

/**
 * The signing keys, sealed at rest. Each algorithm has one active key (it signs), one next key (already
 * published, so that every API knows it before it signs) and retiring keys (their signatures are still
 * valid). Changes need an advisory lock.
 */
@Injectable()
export class SigningKeys {
  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly secrets: SecretBox,
    @Inject(CLOCK) private readonly clock: Clock = systemClock,
  ) {}

  /** Creates an active and a next key of each algorithm if missing; concurrent replicas create one set. */
  async ensureKeys(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      await this.createMissing(tx);
    });
  }

  /**
   * Activates the next keys; the previous keys stay published while their signatures may be used. Waits until
   * the next keys are a second old: by then, every replica publishes them. Returns the new active ids.
   */
  async rotate(): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      await this.createMissing(tx);
      const waitMs = propagationWaitMs(await tx.rows<KeyRow>(readKeys), this.clock());
      if (waitMs > 0) await tx.rows(wait, [waitMs]);
      return this.activateNextKeys(tx, 'operator');
    });
  }

  /**
   * Rotates if it is due (`isRotationDue`), and only once when several replicas call it. Returns the new
   * active ids, or undefined when no rotation is due.
   */
  async rotateWhenDue(days: number): Promise<string[] | undefined> {
    if (!isRotationDue(await this.database.rows<KeyRow>(readKeys), days, this.clock())) return undefined;
    return this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      const due = isRotationDue(await tx.rows<KeyRow>(readKeys), days, this.clock());
      return due ? this.activateNextKeys(tx, 'schedule') : undefined;
    });
  }

  /** Deletes keys that became `retiring` more than 30 days ago. */
  async deleteExpiredRetiringKeys(): Promise<void> {
    await this.database.run(deleteExpiredRetiringKeys, [this.clock()]);
  }

  /**
   * Removes a leaked key: the APIs no longer accept its signatures, valid tokens included. Introspection and
   * UserInfo compare digests instead, so they accept issued tokens until they expire. A removed next key is
   * replaced.
   * @throws Error for an active key, which still signs, and for an unknown key
   */
  async remove(kid: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      if ((await tx.run(removeKey, [kid])) === 0) {
        const exists = (await tx.row(findKey, [kid])) !== undefined;
        throw new Error(
          exists
            ? `The key ${kid} is active. Rotate the keys first (keys rotate).`
            : `The key ${kid} does not exist.`,
        );
      }
      await this.createMissing(tx);
      await auditOperator(tx, { event: 'signing_key_removed', details: { kid } });
    });
  }

  /** Returns all keys, active ones first. */
  async list(): Promise<readonly ListedKey[]> {
    return this.database.rows<ListedKey>(listKeys);
  }

  /** Returns the version of the `KeySet` without reading the keys, for frequent polling. */
  async version(): Promise<string> {
    return (await this.database.row<{ version: string }>(readVersion))?.version ?? '';
  }

  /** Reads and decrypts all keys. @throws Error when KEY_ENCRYPTION_KEY does not open all of them */
  async load(): Promise<KeySet> {
    // The version is read first: after a change between the two reads it is too old, and the next poll loads
    // the keys once more.
    const version = await this.version();
    const rows = await this.database.rows<KeyRow>(readKeys);
    return { keys: rows.map((row) => ({ state: row.state, jwk: this.decrypt(row) })), version };
  }

  /** @throws Error when KEY_ENCRYPTION_KEY does not open the row */
  private decrypt({ kid, jwk_encrypted }: KeyRow): PrivateJwk {
    try {
      return privateJwk.parse(JSON.parse(this.secrets.open(jwk_encrypted, signingKeyOwner(kid)).toString()));
    } catch (cause) {
      throw new Error('KEY_ENCRYPTION_KEY cannot decrypt the signing keys.', { cause });
    }
  }

  /**
   * @throws Error when KEY_ENCRYPTION_KEY does not open all present keys: it differs from that of the
   * services, which could not open a new key
   */
  private async createMissing(tx: Transaction): Promise<void> {
    const present = await tx.rows<KeyRow>(readKeys);
    for (const row of present) this.decrypt(row);
    for (const alg of signingAlgorithms) {
      for (const state of ['active', 'next'] as const) {
        if (!present.some((key) => key.alg === alg && key.state === state)) await this.insert(tx, alg, state);
      }
    }
  }

  /** Retires the active keys, activates the next ones and creates their successors. */
  private async activateNextKeys(tx: Transaction, actor: 'operator' | 'schedule'): Promise<string[]> {
    const now = this.clock();
    for (const alg of signingAlgorithms) {
      await tx.run(startRetiring, [alg, now]);
      await tx.run(activateNext, [alg, now]);
      await this.insert(tx, alg, 'next');
    }
    const rows = await tx.rows<KeyRow>(readKeys);
    const active = rows.filter((row) => row.state === 'active').map((row) => row.kid);
    if (actor === 'operator') await auditOperator(tx, { event: 'keys_rotated', details: { active } });
    else await insertAudit(tx, { event: 'keys_rotated', details: { actor, active } });
    return active;
  }

  private async insert(tx: Transaction, alg: SigningAlgorithm, state: KeyState): Promise<void> {
    const jwk = await makeKey(alg);
    const encrypted = this.secrets.seal(JSON.stringify(jwk), signingKeyOwner(jwk.kid));
    await tx.run(insertKey, [jwk.kid, alg, state, encrypted, this.clock()]);
  }
}
