import { nilUuid } from '@fulfilment/contracts';
import { type Database, type Statement, statement, type Transaction } from '@fulfilment/database';
import { type SecretBox, UnreadableSecret } from '@fulfilment/runtime';
import { clientSecretOwner } from '../registration/client-secret.js';
import { lockKeys, signingKeyOwner } from './signing-keys.js';
import { auditOperator } from '../audit/operator-audit.js';
import { secondFactorOwner } from '../second-factor/second-factors.js';

/** Bounds the time for which a transaction locks rows. */
const batchSize = 200;

/** A table with sealed secrets. */
interface SealedTable {
  /**
   * Locks a batch of secrets that the newest key has not sealed. Parameters: id to start after, length of a
   * key id, id of the newest key. Columns: id, sealed.
   */
  readonly lock: Statement;
  /** Parameters: ids, and their resealed secrets. */
  readonly replace: Statement;
  /** Sorts before all ids. */
  readonly beforeFirstId: string;
  readonly ownerOf: (id: string) => string;
}

// A sealed secret starts with the id of its key (SecretBox).
const tables: readonly SealedTable[] = [
  {
    lock: statement(
      'signing-keys.lock-sealed-by-others',
      `SELECT kid AS id, jwk_encrypted AS sealed FROM signing_keys
       WHERE kid > $1 AND substring(jwk_encrypted FROM 1 FOR $2) <> $3
       ORDER BY kid LIMIT ${batchSize} FOR NO KEY UPDATE`,
    ),
    replace: statement(
      'signing-keys.replace-sealed',
      `UPDATE signing_keys k SET jwk_encrypted = r.sealed FROM unnest($1::text[], $2::bytea[]) AS r(id, sealed) WHERE k.kid = r.id`,
    ),
    beforeFirstId: '',
    ownerOf: signingKeyOwner,
  },
  {
    lock: statement(
      'clients.lock-sealed-by-others',
      `SELECT id, decode(payload ->> 'client_secret_sealed', 'base64') AS sealed FROM oidc_model
       WHERE model = 'Client' AND id > $1 AND substring(decode(payload ->> 'client_secret_sealed', 'base64') FROM 1 FOR $2) <> $3
       ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE`,
    ),
    // encode() adds line breaks, which translate() removes.
    replace: statement(
      'clients.replace-sealed',
      `UPDATE oidc_model m
       SET payload = jsonb_set(m.payload, '{client_secret_sealed}', to_jsonb(translate(encode(r.sealed, 'base64'), E'\\n', '')))
       FROM unnest($1::text[], $2::bytea[]) AS r(id, sealed) WHERE m.model = 'Client' AND m.id = r.id`,
    ),
    beforeFirstId: '',
    ownerOf: clientSecretOwner,
  },
  {
    lock: statement(
      'second-factors.lock-sealed-by-others',
      `SELECT user_id AS id, secret_encrypted AS sealed FROM second_factors
       WHERE user_id > $1 AND substring(secret_encrypted FROM 1 FOR $2) <> $3
       ORDER BY user_id LIMIT ${batchSize} FOR NO KEY UPDATE`,
    ),
    replace: statement(
      'second-factors.replace-sealed',
      `UPDATE second_factors f SET secret_encrypted = r.sealed FROM unnest($1::uuid[], $2::bytea[]) AS r(id, sealed) WHERE f.user_id = r.id`,
    ),
    beforeFirstId: nilUuid,
    ownerOf: secondFactorOwner,
  },
];

/** Number of resealed secrets, and of secrets that no key opens. */
interface Resealed {
  readonly resealed: number;
  readonly unreadable: number;
}

/**
 * Seals all secrets (signing keys, client secrets, second factors) with the newest key, so that the older
 * keys can be removed. Works in small transactions while the service runs. Idempotent.
 */
export async function resealSecrets(database: Database, secrets: SecretBox): Promise<Resealed> {
  let resealed = 0;
  let unreadable = 0;
  for (const table of tables) {
    let after = table.beforeFirstId;
    for (;;) {
      const batch = await database.transaction((tx) => resealBatch(tx, secrets, table, after));
      if (batch.lastId === undefined) break;
      resealed += batch.resealed;
      unreadable += batch.unreadable;
      after = batch.lastId;
    }
  }
  await auditOperator(database, { event: 'secrets_resealed', details: { resealed, unreadable } });
  return { resealed, unreadable };
}

interface Sealed {
  readonly id: string;
  readonly sealed: Buffer;
}

async function resealBatch(
  tx: Transaction,
  secrets: SecretBox,
  { lock, replace, ownerOf }: SealedTable,
  after: string,
): Promise<Resealed & { readonly lastId: string | undefined }> {
  const { newestKeyId } = secrets;
  await tx.run(lockKeys); // a rotation locks the signing keys in another order
  const rows = await tx.rows<Sealed>(lock, [after, newestKeyId.length, newestKeyId]);
  const ids: string[] = [];
  const resealed: Buffer[] = [];
  for (const { id, sealed } of rows) {
    const secret = reseal(secrets, sealed, ownerOf(id));
    if (secret === undefined) continue;
    ids.push(id);
    resealed.push(secret);
  }
  await tx.run(replace, [ids, resealed]);
  return {
    resealed: ids.length,
    unreadable: rows.length - ids.length,
    lastId: rows.at(-1)?.id,
  };
}

/** Returns undefined for a secret that no key opens: it stays unchanged, since its key may still be found. */
function reseal(secrets: SecretBox, sealed: Buffer, owner: string): Buffer | undefined {
  try {
    return secrets.reseal(sealed, owner);
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    return undefined;
  }
}
