import { catalogueStatuses, currencies, idShape, moneyShape } from '@fulfilment/contracts';
import { z } from 'zod';

const status = z.enum(catalogueStatuses);

const track = z
  .object({
    position: z.int().min(1).describe('Its place, from 1'),
    title: z.string().describe('Its title'),
    duration_seconds: z.int().min(0).nullable().describe('How long it plays; null when not known'),
    side: z.string().nullable().describe('The side of the record; null where there are none'),
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
    id: idShape('prod', 'The product; the `sku` of orders and quotes'),
    title: z.string().describe('Its title'),
    created_at: z.iso.datetime().describe('When it was made'),
    status: status.describe(
      'Only `available` products can be ordered. A sold-out limited edition stays available, with 0 left',
    ),
    track_listing: z.array(track).describe('Its tracks, in order'),
    product_type: z.string().describe('What it is, such as `vinyl_12_lp`'),
    product_lead_time: z.int().min(0).describe('Days until it can be handed over'),
    price: moneyShape.describe(
      'The catalogue price in the currency asked for; 0 for a product that was never priced, which cannot be ordered',
    ),
    weight_grams: z.int().min(1).nullable().describe('Its weight, packed; null when not known'),
    barcode: z.string().nullable().describe('EAN or UPC; null when it has none'),
    glb_model: z.url().nullable().describe('A 3D model (glTF binary); null when there is none'),
    availability: z
      .object({
        limited_edition: z.boolean().describe('Whether there is only so much of it'),
        quantity: z.int().min(0).nullable().describe('Pieces left of a limited edition, else null'),
      })
      .describe('How much there is of it'),
  })
  .meta({ id: 'Product', description: 'Something that can be ordered.', examples: [productExample] });
export type ProductView = z.infer<typeof productShape>;

const identity = {
  id: idShape('prod', 'The release'),
  name: z.string().describe('Its name'),
  artist_name: z.string().describe('The main artist'),
  additional_artists: z.array(z.string()).describe('Further artists, in order'),
  release_date: z.iso.date().nullable().describe('The day it comes out; null when not set'),
  cover_image_url: z.url().nullable().describe('Its cover; null when it has none'),
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
  product_types: z.array(z.string()).describe('The types of its products'),
  price_range: z
    .object({
      currency: z.enum(currencies).describe('The currency asked for'),
      min: z.int().min(0).describe('The lowest price, in minor units'),
      max: z.int().min(0).describe('The highest price, in minor units'),
    })
    .nullable()
    .describe('Prices of its available products; null when none is'),
};
export const releaseSummaryExample = {
  ...identityExample,
  product_types: ['vinyl_12_lp'],
  price_range: { currency: 'GBP' as const, min: 2499, max: 2499 },
};
const facts = {
  description: z.string().nullable().describe('What it is about; null when nothing was written'),
  copyright: z.string().nullable().describe('The copyright line; null when there is none'),
  status: status.describe('`available` if any product is, else `pending` if any is'),
  created_at: z.iso.datetime().describe('When it was made'),
  products: z.array(productShape).describe('Its products, in order'),
};
export const releaseFactsExample = {
  description: 'Eight songs about looms.',
  copyright: '℗ 2026 Harbour Lights',
  status: 'available' as const,
  created_at: '2026-10-01T08:00:00.000Z',
  products: [productExample],
};

export const releaseSummaryShape = z.object(listed).meta({
  id: 'ReleaseSummary',
  description: 'A release as lists show it.',
  examples: [releaseSummaryExample],
});
export type ReleaseSummary = z.infer<typeof releaseSummaryShape>;

/** What `format=detailed` adds to a summary. */
export type ReleaseFacts = z.infer<z.ZodObject<typeof facts>>;

export const detailedReleaseShape = z.object({ ...listed, ...facts }).meta({
  id: 'DetailedRelease',
  description: 'A release as lists show it with `format=detailed`.',
  examples: [{ ...releaseSummaryExample, ...releaseFactsExample }],
});

export const releaseShape = z.object({ ...identity, ...facts }).meta({
  id: 'Release',
  description: 'A release in full.',
  examples: [{ ...identityExample, ...releaseFactsExample }],
});
export type ReleaseView = z.infer<typeof releaseShape>;
