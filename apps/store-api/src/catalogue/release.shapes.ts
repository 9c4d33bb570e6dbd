import { catalogueStatuses, currencies, idShape, moneyShape } from '@fulfilment/contracts';
import { z } from 'zod';

const status = z.enum(catalogueStatuses);

const track = z
  .object({
    position: z.int().min(1).describe('Position in the track listing, from 1'),
    title: z.string().describe('Title of the track'),
    duration_seconds: z.int().min(0).nullable().describe('Duration in seconds; null if unknown'),
    side: z.string().nullable().describe('Side of the record; null if the format has no sides'),
  })
  .meta({
    id: 'Track',
    description: 'A track of a product.',
    examples: [{ position: 1, title: 'Slow Signal', duration_seconds: 214, side: 'A' }],
  });

const productExample = {
  id: 'prod_01m7xwmwp2eabtq0f8c3vs9k1n',
  title: 'Quiet Machinery (12" LP)',
  created_at: '2026-10-01T08:00:00.000Z',
  status: 'available' as const,
  track_listing: [{ position: 1, title: 'Slow Signal', duration_seconds: 214, side: 'A' }],
  product_type: 'vinyl_12_lp',
  product_lead_time: 10,
  price: { amount: 2499, currency: 'GBP' as const },
  weight_grams: 520,
  barcode: '5060123450017',
  glb_model: null,
  availability: { limited_edition: true, quantity: 41 },
};
const productShape = z
  .object({
    id: idShape('prod', 'The id of the product; used as `sku` in orders and quotes'),
    title: z.string().describe('Title of the product'),
    created_at: z.iso.datetime().describe('When the product was created'),
    status: status.describe(
      'Only `available` products can be ordered. A sold-out limited edition stays `available`, with a quantity of 0',
    ),
    track_listing: z.array(track).describe('The tracks, in order'),
    product_type: z.string().describe('Product type, such as `vinyl_12_lp`'),
    product_lead_time: z
      .int()
      .min(0)
      .describe('Lead time until the product is handed to the carrier, in days'),
    price: moneyShape.describe(
      'Catalogue price in the requested currency; 0 if the product has no price yet and cannot be ordered',
    ),
    weight_grams: z.int().min(1).nullable().describe('Packed weight in grams; null if unknown'),
    barcode: z.string().nullable().describe('EAN or UPC; null if there is none'),
    glb_model: z.url().nullable().describe('URL of a 3D model (glTF binary); null if there is none'),
    availability: z
      .object({
        limited_edition: z.boolean().describe('Whether the number of pieces is limited'),
        quantity: z.int().min(0).nullable().describe('Pieces left to sell; null if not a limited edition'),
      })
      .describe('Stock of the product'),
  })
  .meta({ id: 'Product', description: 'A physical product of a release.', examples: [productExample] });
export type ProductView = z.infer<typeof productShape>;

const identity = {
  id: idShape('prod', 'The id of the release'),
  name: z.string().describe('Name of the release'),
  artist_name: z.string().describe('The main artist'),
  additional_artists: z.array(z.string()).describe('Additional artists, in order'),
  release_date: z.iso.date().nullable().describe('Release date; null if not set'),
  cover_image_url: z.url().nullable().describe('URL of the cover image; null if there is none'),
};
const identityExample = {
  id: 'prod_01m7xwmwnzc4r8e7k2v5g0ts6p',
  name: 'Quiet Machinery',
  artist_name: 'Harbour Lights',
  additional_artists: ['Aiko Mori'],
  release_date: '2026-11-06',
  cover_image_url: 'https://images.example/quiet-machinery.jpg',
};
const listed = {
  ...identity,
  product_types: z.array(z.string()).describe('Product types of the release'),
  price_range: z
    .object({
      currency: z.enum(currencies).describe('The requested currency'),
      min: z.int().min(0).describe('The lowest price, in minor units'),
      max: z.int().min(0).describe('The highest price, in minor units'),
    })
    .nullable()
    .describe('Price range of the available products; null if no product is available'),
};
export const releaseSummaryExample = {
  ...identityExample,
  product_types: ['vinyl_12_lp'],
  price_range: { currency: 'GBP' as const, min: 2499, max: 2499 },
};
const details = {
  description: z.string().nullable().describe('Description of the release; null if there is none'),
  copyright: z.string().nullable().describe('Copyright line; null if there is none'),
  status: status.describe(
    '`available` if any product is available, else `pending` if any product is pending, else `unavailable`',
  ),
  created_at: z.iso.datetime().describe('When the release was created'),
  products: z.array(productShape).describe('Products of the release, in order'),
};
export const releaseDetailsExample = {
  description: 'Eight songs about looms.',
  copyright: '℗ 2026 Harbour Lights',
  status: 'available' as const,
  created_at: '2026-10-01T08:00:00.000Z',
  products: [productExample],
};

export const releaseSummaryShape = z.object(listed).meta({
  id: 'ReleaseSummary',
  description: 'A release as returned in lists.',
  examples: [releaseSummaryExample],
});
export type ReleaseSummary = z.infer<typeof releaseSummaryShape>;

/** Members that `format=detailed` adds to a summary. */
export type ReleaseDetails = z.infer<z.ZodObject<typeof details>>;

export const detailedReleaseShape = z.object({ ...listed, ...details }).meta({
  id: 'DetailedRelease',
  description: 'A release as returned in lists with `format=detailed`.',
  examples: [{ ...releaseSummaryExample, ...releaseDetailsExample }],
});

export const releaseShape = z.object({ ...identity, ...details }).meta({
  id: 'Release',
  description: 'A release with all its products.',
  examples: [{ ...identityExample, ...releaseDetailsExample }],
});
export type ReleaseView = z.infer<typeof releaseShape>;
