import { type CatalogueStatus, type Currency, publicId } from '@fulfilment/contracts';
import type { ProductView, ReleaseDetails, ReleaseSummary, ReleaseView } from '../release.shapes.js';

/** Columns that summaries and whole releases share. */
interface SharedColumns {
  id: string;
  name: string;
  artist_name: string;
  additional_artists: string[];
  release_date: string | null;
  cover_image_url: string | null;
}

export interface ReleaseSummaryRow extends SharedColumns {
  /** Whole microseconds since 1970: the sort key. */
  created_micros: number;
  product_types: string[] | null;
  price_min: number | null;
  price_max: number | null;
}

export interface WholeReleaseRow extends SharedColumns {
  description: string | null;
  copyright: string | null;
  created_at: Date;
}

export interface ProductOfReleaseRow {
  id: string;
  release_id: string;
  title: string;
  created_at: Date;
  status: CatalogueStatus;
  product_type: string;
  lead_time_days: number;
  weight_grams: number | null;
  barcode: string | null;
  glb_model: string | null;
  limited_edition: boolean;
  quantity: number | null;
  price: number | null;
  tracks: { position: number; title: string; duration_seconds: number | null; side: string | null }[];
}

export function releaseSummary(row: ReleaseSummaryRow, currency: Currency): ReleaseSummary {
  return {
    ...sharedMembers(row),
    product_types: row.product_types ?? [],
    price_range:
      row.price_min === null || row.price_max === null
        ? null
        : { currency, min: row.price_min, max: row.price_max },
  };
}

export function releaseDetails(
  row: WholeReleaseRow,
  products: readonly ProductOfReleaseRow[],
  currency: Currency,
): ReleaseDetails {
  return {
    description: row.description,
    copyright: row.copyright,
    status: releaseStatus(products.map(({ status }) => status)),
    created_at: row.created_at.toISOString(),
    products: products.map((product) => productView(product, currency)),
  };
}

export function releaseView(
  row: WholeReleaseRow,
  products: readonly ProductOfReleaseRow[],
  currency: Currency,
): ReleaseView {
  return { ...sharedMembers(row), ...releaseDetails(row, products, currency) };
}

/** Returns `available` if any product is, else `pending` if any is, else `unavailable`. */
function releaseStatus(products: readonly CatalogueStatus[]): CatalogueStatus {
  if (products.includes('available')) return 'available';
  return products.includes('pending') ? 'pending' : 'unavailable';
}

function sharedMembers(row: SharedColumns) {
  return {
    id: publicId('prod', row.id),
    name: row.name,
    artist_name: row.artist_name,
    additional_artists: row.additional_artists,
    release_date: row.release_date,
    cover_image_url: row.cover_image_url,
  };
}

function productView(row: ProductOfReleaseRow, currency: Currency): ProductView {
  return {
    id: publicId('prod', row.id),
    title: row.title,
    created_at: row.created_at.toISOString(),
    status: row.status,
    track_listing: row.tracks,
    product_type: row.product_type,
    product_lead_time: row.lead_time_days,
    // A product without a price shows 0. It cannot be ordered before it is priced.
    price: { amount: row.price ?? 0, currency },
    weight_grams: row.weight_grams,
    barcode: row.barcode,
    glb_model: row.glb_model,
    availability: { limited_edition: row.limited_edition, quantity: row.quantity },
  };
}
