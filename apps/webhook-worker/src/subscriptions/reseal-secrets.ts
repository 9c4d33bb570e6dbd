import { type Database, statement, type Transaction } from '@fulfilment/database';
import type { SecretBox } from '@fulfilment/runtime';

const batchSize = 200;
const firstId = '00000000-0000-0000-0000-000000000000';

interface Sealed {
  readonly id: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
}

// A sealed secret begins with its key's id (SecretBox).
const lockOthers = statement(
  'subscriptions.lock-sealed-by-others',
  `SELECT id, secret, CASE WHEN previous_secret_until > now() THEN previous_secret END AS previous_secret
   FROM webhook_subscriptions
   WHERE id > $1 AND deleted_at IS NULL
     AND (substring(secret FROM 1 FOR $2) <> $3 OR substring(previous_secret FROM 1 FOR $2) <> $3)
   ORDER BY id LIMIT ${batchSize} FOR NO KEY UPDATE`,
);
const replace = statement(
  'subscriptions.replace-sealed',
  `UPDATE webhook_subscriptions s SET secret = r.secret, previous_secret = r.previous_secret
   FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS r(id, secret, previous_secret) WHERE s.id = r.id`,
);

/** How many subscriptions' secrets were sealed anew, and how many no key opens. */
export interface Resealed {
  readonly resealed: number;
  readonly unreadable: number;
}

/**
 * Seals with the newest key what other keys have sealed, so that those can be retired. A few subscriptions in a transaction, while deliveries
 * go on; to be run again as one likes. Previous secrets that sign no more are dropped.
 */
export async function resealSecrets(database: Database, box: SecretBox): Promise<Resealed> {
  let [after, resealed, unreadable] = [firstId, 0, 0];
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
  const rows = await tx.rows<Sealed>(lockOthers, [after, newestKeyId.length, newestKeyId]);
  const fresh = rows.flatMap((row) => reseal(box, row));
  await tx.run(replace, [
    fresh.map(({ id }) => id),
    fresh.map(({ secret }) => secret),
    fresh.map(({ previous_secret: previous }) => previous),
  ]);
  return { resealed: fresh.length, unreadable: rows.length - fresh.length, last: rows.at(-1)?.id };
}

/** One that no key opens stays as it is: its key may be found yet. */
function reseal(box: SecretBox, { id, secret, previous_secret: previous }: Sealed): Sealed[] {
  try {
    return [
      {
        id,
        secret: box.reseal(secret, id),
        previous_secret: previous === null ? null : box.reseal(previous, id),
      },
    ];
  } catch {
    return [];
  }
}
