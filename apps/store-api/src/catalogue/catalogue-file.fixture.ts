import { uuidv7 } from '@fulfilment/contracts';
import type { CatalogueFile } from './load-catalogue.js';

/** Catalogue prices of the products of `catalogueOf`, and list prices of an LP, in minor units. */
export const cataloguePrices = { GBP: 2499, USD: 2999, EUR: 2899, JPY: 4800 };

const productTypes = [
  {
    product_type: 'vinyl_12_lp',
    title: '12" LP',
    weight_grams: 520,
    lead_time_days: 10,
    royalty_rate: 1500,
    prices: cataloguePrices,
  },
  {
    product_type: 'vinyl_7_single',
    title: '7" single',
    weight_grams: 160,
    lead_time_days: 8,
    royalty_rate: 1250,
    prices: { GBP: 1199, USD: 1399, EUR: 1299, JPY: 2200 },
  },
];

export type ProductOptions = Partial<CatalogueFile['releases'][number]['products'][number]>;

/** Returns a catalogue file with one release, and the ids of the release and its products. */
export function catalogueOf(creatorId: string, products: readonly ProductOptions[], name = 'Tidal Maps') {
  const id = uuidv7();
  const productIds = products.map(() => uuidv7());
  const file: CatalogueFile = {
    product_types: productTypes,
    releases: [
      {
        id,
        creator_id: creatorId,
        name,
        artist_name: 'Harbour Lights',
        additional_artists: [],
        release_date: '2026-03-01',
        description: null,
        cover_image_url: null,
        copyright: null,
        created_at: new Date().toISOString(),
        products: products.map((product, index) => ({
          id: productIds[index] ?? '',
          title: `${name} ${index + 1}`,
          product_type: 'vinyl_12_lp',
          status: 'available',
          quantity: null,
          weight_grams: null,
          barcode: '2000000000015',
          glb_model: null,
          prices: cataloguePrices,
          tracks: [{ title: 'Low Water', duration_seconds: 215, side: 'A' }],
          ...product,
        })),
      },
    ],
  };
  return { file, id, productIds };
}
