import { type Database, type Statement, statement, type Transaction } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';
import { clientSecretOwner } from '../tokens/adapter.js';
import { signingKeyOwner } from './signing-keys.js';
import { auditOperator } from '../audit/operator-audit.js';
import { secondFactorOwner } from '../second-factor/second-factors.js';

const batchSize = 200;

/** Where sealed secrets are. */
interface Place {
  /** Locks those that other keys have sealed. Of an id to begin behind, the length of a key's id, and the newest key's: id, sealed. */
  readonly lock: Statement;
  /** Of ids and what they become. */
  readonly replace: Statement;
  /** Before every id. */
  readonly first: string;
  readonly ownerOf: (id: string) => string;
  /** The owner in secrets that were sealed before the type was part of it. */
  readonly formerlyOf?: (id: string) => string;
}

// A sealed secret begins with its key's id (SecretBox).
const places: readonly Place[] = [
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
    first: '',
    ownerOf: signingKeyOwner,
    formerlyOf: (kid) => kid,
  },
  {
    lock: statement(
      'clients.lock-sealed-by-others',
      `SELECT id, decode(payload ->> 'client_secret_sealed', 'base64') AS sealed FROM oidc_model
       WHERE model = 'Client' AND id > $1 AND substring(decode(payload ->> 'client_secret_sealed', 'base64') FROM 1 FOR $2) <> $3
       ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE`,
    ),
    // encode() breaks its lines.
    replace: statement(
      'clients.replace-sealed',
      `UPDATE oidc_model m
       SET payload = jsonb_set(m.payload, '{client_secret_sealed}', to_jsonb(translate(encode(r.sealed, 'base64'), E'\\n', '')))
       FROM unnest($1::text[], $2::bytea[]) AS r(id, sealed) WHERE m.model = 'Client' AND m.id = r.id`,
    ),
    first: '',
    ownerOf: clientSecretOwner,
    formerlyOf: (clientId) => clientId,
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
    first: '00000000-0000-0000-0000-000000000000',
    ownerOf: secondFactorOwner,
  },
];

/** How many secrets were sealed anew, and how many no key opens. */
export interface Resealed {
  readonly resealed: number;
  readonly unreadable: number;
}

/**
 * Seals with the newest key what other keys have sealed: signing keys, secrets of clients, second factors, so that those keys can be
 * retired. A few in a transaction, while the service goes on; to be run again as one likes.
 */
export async function resealSecrets(database: Database, secrets: SecretBox): Promise<Resealed> {
  let [resealed, unreadable] = [0, 0];
  for (const place of places) {
    for (let after: string | undefined = place.first; after !== undefined;) {
      const from: string = after;
      const batch = await database.transaction((tx) => resealBatch(tx, secrets, place, from));
      resealed += batch.resealed;
      unreadable += batch.unreadable;
      after = batch.last;
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
  { lock, replace, ownerOf, formerlyOf }: Place,
  after: string,
): Promise<Resealed & { readonly last: string | undefined }> {
  const { newestKeyId } = secrets;
  const rows = await tx.rows<Sealed & Record<string, unknown>>(lock, [
    after,
    newestKeyId.length,
    newestKeyId,
  ]);
  const fresh = rows.flatMap(({ id, sealed }) =>
    reseal(secrets, sealed, ownerOf(id), formerlyOf?.(id)).map((anew) => ({ id, anew })),
  );
  await tx.run(replace, [fresh.map(({ id }) => id), fresh.map(({ anew }) => anew)]);
  return { resealed: fresh.length, unreadable: rows.length - fresh.length, last: rows.at(-1)?.id };
}

/** One that no key opens stays as it is: its key may be found yet. */
function reseal(secrets: SecretBox, sealed: Buffer, owner: string, formerly: string | undefined): Buffer[] {
  try {
    return [secrets.reseal(sealed, owner, formerly)];
  } catch {
    return [];
  }
}
