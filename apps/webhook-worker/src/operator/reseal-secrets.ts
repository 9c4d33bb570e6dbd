import { nilUuid } from '@fulfilment/contracts';
import { type Database, RowParameters, statement, type Transaction } from '@fulfilment/database';
import { type SecretBox, UnreadableSecret } from '@fulfilment/runtime';

const batchSize = 200;

/** Sealed values of a subscription. A previous value is null once it no longer signs. */
interface Sealed {
  readonly id: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly signing_key: Buffer | null;
  readonly previous_signing_key: Buffer | null;
}

// A sealed secret starts with the id of its key (SecretBox).
const lockSealedWithOldKeys = statement(
  'subscriptions.lock-sealed-with-old-keys',
  `SELECT id, secret, CASE WHEN previous_secret_until > now() THEN previous_secret END AS previous_secret,
     signing_key, CASE WHEN previous_signing_key_until > now() THEN previous_signing_key END AS previous_signing_key
   FROM webhook_subscriptions
   WHERE id > $1 AND deleted_at IS NULL
     AND (substring(secret FROM 1 FOR $2) <> $3 OR substring(previous_secret FROM 1 FOR $2) <> $3
       OR substring(signing_key FROM 1 FOR $2) <> $3 OR substring(previous_signing_key FROM 1 FOR $2) <> $3)
   ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE`,
);
const resealedRows = new RowParameters<Sealed>('r', {
  id: ['uuid', (row) => row.id],
  secret: ['bytea', (row) => row.secret],
  previous_secret: ['bytea', (row) => row.previous_secret],
  signing_key: ['bytea', (row) => row.signing_key],
  previous_signing_key: ['bytea', (row) => row.previous_signing_key],
});
const replace = statement(
  'subscriptions.replace-sealed',
  `UPDATE webhook_subscriptions s SET secret = r.secret, previous_secret = r.previous_secret,
     signing_key = r.signing_key, previous_signing_key = r.previous_signing_key
   FROM ${resealedRows.table()} WHERE s.id = r.id`,
);

export interface Resealed {
  /** Number of subscriptions whose secrets were resealed. */
  readonly resealed: number;
  /** Number of subscriptions with a secret that no key opens. */
  readonly unreadable: number;
}

/**
 * Seals every secret with the newest key, so that the older keys can be removed. Works in small transactions
 * while deliveries continue, and can be repeated. Also deletes expired previous secrets and keys of the
 * resealed subscriptions.
 */
export async function resealSecrets(database: Database, box: SecretBox): Promise<Resealed> {
  let after = nilUuid;
  let resealed = 0;
  let unreadable = 0;
  for (;;) {
    const batch = await database.transaction((tx) => resealBatch(tx, box, after));
    resealed += batch.resealed;
    unreadable += batch.unreadable;
    if (batch.last === undefined) return { resealed, unreadable };
    after = batch.last;
  }
}

async function resealBatch(
  tx: Transaction,
  box: SecretBox,
  after: string,
): Promise<Resealed & { readonly last: string | undefined }> {
  const { newestKeyId } = box;
  const rows = await tx.rows<Sealed>(lockSealedWithOldKeys, [after, newestKeyId.length, newestKeyId]);
  const resealed = rows.flatMap((row) => reseal(box, row));
  await tx.run(replace, resealedRows.values(resealed));
  return { resealed: resealed.length, unreadable: rows.length - resealed.length, last: rows.at(-1)?.id };
}

/**
 * Returns an empty array if any secret of the subscription cannot be opened: all its secrets stay unchanged,
 * since the missing key may still be found.
 */
function reseal(box: SecretBox, { id, secret, ...optional }: Sealed): Sealed[] {
  const resealOptional = (sealed: Buffer | null): Buffer | null =>
    sealed === null ? null : box.reseal(sealed, id);
  try {
    return [
      {
        id,
        secret: box.reseal(secret, id),
        previous_secret: resealOptional(optional.previous_secret),
        signing_key: resealOptional(optional.signing_key),
        previous_signing_key: resealOptional(optional.previous_signing_key),
      },
    ];
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    return [];
  }
}
