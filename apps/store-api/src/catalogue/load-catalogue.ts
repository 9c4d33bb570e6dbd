import { type Database, statement, type Transaction } from '@fulfilment/database';
import { currencies, maxAmount } from '@fulfilment/contracts';
import { z } from 'zod';
import { lockReleasesAndCreators } from './editions/lock-releases-and-creators.js';
import { rewriteTrackListing } from './editions/write-track-listing.js';
import { searchText } from './search.rules.js';

/** Prices in minor units, by currency. At least 1, since payment providers do not charge 0. */
const prices = z.record(z.enum(currencies), z.int().min(1).max(maxAmount));

/** The operator's catalogue file. It contains the ids, so a second load of the same file changes nothing. */
export const catalogueFile = z.object({
  product_types: z.array(
    z.object({
      product_type: z.string(),
      title: z.string(),
      weight_grams: z.int().min(1),
      lead_time_days: z.int().min(0),
      /** In basis points. */
      royalty_rate: z.int().min(0).max(10_000),
      prices,
    }),
  ),
  releases: z.array(
    z.object({
      id: z.uuid(),
      creator_id: z.uuid(),
      name: z.string(),
      artist_name: z.string(),
      additional_artists: z.array(z.string()),
      release_date: z.iso.date().nullable(),
      description: z.string().nullable(),
      cover_image_url: z.url().nullable(),
      copyright: z.string().nullable(),
      created_at: z.iso.datetime(),
      products: z.array(
        z
          .object({
            id: z.uuid(),
            title: z.string(),
            product_type: z.string(),
            status: z.enum(['available', 'pending', 'unavailable']),
            /** Pieces of a limited edition, else null. */
            quantity: z.int().min(0).nullable(),
            weight_grams: z.int().min(1).nullable(),
            barcode: z.string().nullable(),
            glb_model: z.url().nullable(),
            prices: prices.nullable(),
            tracks: z.array(
              z.object({
                title: z.string(),
                duration_seconds: z.int().min(0).nullable(),
                side: z.string().nullable(),
              }),
            ),
          })
          .refine(
            (product) => product.status !== 'available' || product.prices !== null,
            'needs prices to be available',
          ),
      ),
    }),
  ),
});
export type CatalogueFile = z.infer<typeof catalogueFile>;
type Release = CatalogueFile['releases'][number];

const upsertType = statement(
  'load.product-type',
  `INSERT INTO product_types (product_type, title, weight_grams, lead_time_days, royalty_rate, price_gbp, price_usd, price_eur, price_jpy)
   VALUES (:product_type, :title, :weight_grams, :lead_time_days, :royalty_rate, :GBP, :USD, :EUR, :JPY)
   ON CONFLICT (product_type) DO UPDATE SET title = excluded.title, weight_grams = excluded.weight_grams,
     lead_time_days = excluded.lead_time_days, royalty_rate = excluded.royalty_rate, price_gbp = excluded.price_gbp,
     price_usd = excluded.price_usd, price_eur = excluded.price_eur, price_jpy = excluded.price_jpy`,
);
const insertReleases = statement(
  'load.releases',
  `INSERT INTO releases (id, creator_id, name, artist_name, additional_artists, release_date, description, cover_image_url, copyright,
                         search_text, created_at)
   SELECT id, creator_id, name, artist_name, additional_artists, release_date, description, cover_image_url, copyright, search_text, created_at
   FROM json_to_recordset($1::json) AS release (id uuid, creator_id uuid, name text, artist_name text, additional_artists text[],
     release_date date, description text, cover_image_url text, copyright text, search_text text, created_at timestamptz)
   ON CONFLICT (id) DO NOTHING`,
);
const insertProducts = statement(
  'load.products',
  `INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, weight_grams, barcode,
                         glb_model, royalty_rate, price_gbp, price_usd, price_eur, price_jpy, limited_edition, quantity, created_at)
   SELECT p.id, release_id, creator_id, position, p.title, p.product_type, status, t.lead_time_days, p.weight_grams, barcode,
          glb_model, t.royalty_rate, gbp, usd, eur, jpy, quantity IS NOT NULL, quantity, created_at
   FROM json_to_recordset($1::json) AS p (id uuid, release_id uuid, creator_id uuid, position int, title text, product_type text,
     status text, weight_grams int, barcode text, glb_model text, gbp bigint, usd bigint, eur bigint, jpy bigint, quantity int,
     created_at timestamptz)
   JOIN product_types t USING (product_type)
   ON CONFLICT (id) DO NOTHING`,
);
const readUnknownTypes = statement(
  'load.unknown-types',
  `SELECT DISTINCT type FROM unnest($1::text[]) AS type
   WHERE NOT EXISTS (SELECT FROM product_types WHERE product_type = type) ORDER BY type`,
);
const insertTracks = statement(
  'load.tracks',
  `INSERT INTO tracks (product_id, position, title, duration_seconds, side)
   SELECT * FROM json_to_recordset($1::json) AS track (product_id uuid, position int, title text, duration_seconds int, side text)
   ON CONFLICT DO NOTHING`,
);

const findWithUploadedTracks = statement(
  'load.with-uploaded-tracks',
  'SELECT DISTINCT release_id AS id FROM processed_tracks WHERE release_id = ANY($1::uuid[])',
);

/**
 * Adds or updates the product types, and adds missing releases, products and tracks, in one transaction.
 * Existing releases, products and tracks stay as they are.
 * @returns the numbers of releases and product types in the file
 * @throws Error for a product of a type that is neither in the file nor loaded earlier
 */
export async function loadCatalogue(
  database: Database,
  file: CatalogueFile,
): Promise<{ releases: number; product_types: number }> {
  const products = file.releases.flatMap((release) => release.products);
  await database.transaction(async (tx) => {
    for (const { prices: listPrices, ...type } of file.product_types)
      await tx.run(upsertType, { ...type, ...listPrices });
    await requireKnownTypes(tx, products);
    await tx.run(insertReleases, [JSON.stringify(file.releases.map(releaseRow))]);
    await tx.run(insertProducts, [JSON.stringify(file.releases.flatMap(productRows))]);
    await tx.run(insertTracks, [JSON.stringify(products.flatMap(trackRows))]);
  });
  await listUploadedTracks(
    database,
    file.releases.map(({ id }) => id),
  );
  return { releases: file.releases.length, product_types: file.product_types.length };
}

/** Lists uploaded tracks on new products of their releases, in a short transaction for each release. */
async function listUploadedTracks(database: Database, releaseIds: readonly string[]): Promise<void> {
  for (const { id } of await database.rows<{ id: string }>(findWithUploadedTracks, [releaseIds]))
    await database.transaction(async (tx) => {
      await lockReleasesAndCreators(tx, [id]);
      await rewriteTrackListing(tx, id);
    });
}

function releaseRow({ products: _products, ...release }: Release) {
  return {
    ...release,
    search_text: searchText(release.name, release.artist_name, ...release.additional_artists),
  };
}

function productRows({ id, creator_id, created_at, products }: Release) {
  return products.map(({ prices: productPrices, tracks: _tracks, ...product }, index) => ({
    ...product,
    position: index + 1,
    release_id: id,
    creator_id,
    created_at,
    gbp: productPrices?.GBP,
    usd: productPrices?.USD,
    eur: productPrices?.EUR,
    jpy: productPrices?.JPY,
  }));
}

function trackRows({ id, tracks }: Release['products'][number]) {
  return tracks.map((track, index) => ({ ...track, product_id: id, position: index + 1 }));
}

async function requireKnownTypes(
  tx: Transaction,
  products: readonly { readonly product_type: string }[],
): Promise<void> {
  const unknown = await tx.rows<{ type: string }>(readUnknownTypes, [
    products.map(({ product_type }) => product_type),
  ]);
  if (unknown.length > 0)
    throw new Error(
      `Add the missing product types to the file: ${unknown.map(({ type }) => type).join(', ')}.`,
    );
}
