import { type Client, iterate, listReleases } from '@fulfilment/client/store';
import { Failure } from '../dev/failure.ts';

/** Returns the SKU of a product that can be ordered in any quantity. */
export async function unlimitedProduct(client: Client): Promise<string> {
  const releases = iterate((cursor) => listReleases({ client, query: { format: 'detailed', cursor } }));
  for await (const release of releases) {
    const products = 'products' in release ? release.products : [];
    const product = products.find(
      ({ status, availability }) => status === 'available' && !availability.limited_edition,
    );
    if (product !== undefined) return product.id;
  }
  throw new Failure('No product of the demo data can be ordered without limit.');
}
