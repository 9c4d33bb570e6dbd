import { type Database, statement, type Transaction } from '@fulfilment/database';
import {
  makeKey,
  type PrivateJwk,
  privateJwk,
  type SigningAlgorithm,
  signingAlgorithms,
} from './make-key.js';
import { seal, unseal } from './sealed.js';

type State = 'active' | 'next' | 'retiring';

export interface SigningKey {
  readonly jwk: PrivateJwk;
  readonly state: State;
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
}

const lockKeys = statement('keys.lock', 'SELECT pg_advisory_xact_lock(7391003)');
const readKeys = statement(
  'keys.read',
  `SELECT kid, alg, state, jwk_encrypted FROM signing_keys
   ORDER BY array_position(ARRAY['active', 'next', 'retiring'], state), alg, created_at DESC, kid`,
);
const readVersion = statement(
  'keys.version',
  `SELECT coalesce(string_agg(kid || '=' || state, ',' ORDER BY kid), '') AS version FROM signing_keys`,
);
const insertKey = statement(
  'keys.insert',
  `INSERT INTO signing_keys (kid, alg, state, jwk_encrypted, activated_at)
   VALUES ($1, $2, $3, $4, CASE WHEN $3 = 'active' THEN now() END)`,
);
const retireActive = statement(
  'keys.retire',
  `UPDATE signing_keys SET state = 'retiring', retired_at = now() WHERE alg = $1 AND state = 'active'`,
);
const activateNext = statement(
  'keys.activate',
  `UPDATE signing_keys SET state = 'active', activated_at = now() WHERE alg = $1 AND state = 'next'`,
);
// Older ID tokens may still come back as hints; 30 days is more than any session lives.
const forgetRetired = statement(
  'keys.forget',
  `DELETE FROM signing_keys WHERE state = 'retiring' AND retired_at < now() - interval '30 days'`,
);

/**
 * The signing keys, encrypted at rest. Per algorithm one is active (it signs), one is next (already published, so that every
 * API knows it before it signs) and some are retiring (what they signed is still good). Changes happen under an advisory lock.
 */
export class SigningKeys {
  constructor(
    private readonly database: Database,
    private readonly keyEncryptionKey: Buffer,
  ) {}

  /** Makes what is missing; several replicas that start together make one set. */
  async ensure(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      const present = await tx.rows<KeyRow>(readKeys);
      for (const alg of signingAlgorithms) {
        for (const state of ['active', 'next'] as const) {
          if (!present.some((key) => key.alg === alg && key.state === state))
            await this.insert(tx, alg, state);
        }
      }
    });
  }

  /** The next keys sign from now on; the ones before stay published while what they signed may live. Answers the new active ids. */
  async rotate(): Promise<string[]> {
    return this.database.transaction(async (tx) => {
      await tx.run(lockKeys);
      for (const alg of signingAlgorithms) {
        await tx.run(retireActive, [alg]);
        await tx.run(activateNext, [alg]);
        await this.insert(tx, alg, 'next');
      }
      await tx.run(forgetRetired);
      const rows = await tx.rows<KeyRow>(readKeys);
      return rows.filter((row) => row.state === 'active').map((row) => row.kid);
    });
  }

  /** Cheap to ask often. */
  async version(): Promise<string> {
    return (await this.database.row<{ version: string }>(readVersion))?.version ?? '';
  }

  async load(): Promise<KeySet> {
    const version = await this.version();
    const rows = await this.database.rows<KeyRow>(readKeys);
    const keys = rows.map((row) => ({
      state: row.state,
      jwk: privateJwk.parse(JSON.parse(unseal(this.keyEncryptionKey, row.jwk_encrypted, row.kid))),
    }));
    return { keys, version };
  }

  private async insert(tx: Transaction, alg: SigningAlgorithm, state: State): Promise<void> {
    const jwk = await makeKey(alg);
    const encrypted = seal(this.keyEncryptionKey, JSON.stringify(jwk), jwk.kid);
    await tx.run(insertKey, [jwk.kid, alg, state, encrypted]);
  }
}
