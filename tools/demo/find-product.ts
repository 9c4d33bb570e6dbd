import { type Client, iterate, listReleases } from '@fulfilment/client/store';
import { Failure } from '../dev/failure.ts';

interface Availability {
  readonly limited_edition: boolean;
  readonly quantity: number | null;
}

/** Returns the SKU of a product that can be ordered in any quantity. */
export function findUnlimitedProduct(client: Client): Promise<string> {
  return findProduct(client, ({ limited_edition }) => !limited_edition);
}

/** Returns the SKU of a limited edition with at least this number of pieces. */
export function findLimitedEdition(client: Client, pieces: number): Promise<string> {
  return findProduct(client, ({ quantity }) => quantity !== null && quantity >= pieces);
}

async function findProduct(client: Client, fits: (availability: Availability) => boolean): Promise<string> {
  const releases = iterate((cursor) => listReleases({ client, query: { format: 'detailed', cursor } }));
  for await (const release of releases) {
    const products = 'products' in release ? release.products : [];
    const product = products.find(({ status, availability }) => status === 'available' && fits(availability));
    if (product !== undefined) return product.id;
  }
  throw new Failure(
    'No available product of the demo data fits: it has too little stock, or is a limited edition.',
  );
}
