import { harbourLights } from '../../demo/accounts.ts';
import { demoCatalogue, stableUuid } from '../../demo/catalogue.ts';
import { Failure } from '../../dev/failure.ts';
import type { OperatorAccess } from '../../ops/operator-access.ts';
import { operate } from '../../ops/operate.ts';

export const initialStock = 1_000_000;

/** Loads a limited edition with more stock than a run can sell. Returns the UUID of its product. */
export async function loadLimitedEdition(access: OperatorAccess): Promise<string> {
  const { product_types, releases } = demoCatalogue([harbourLights]);
  const template = releases.find(({ products }) => products[0]?.status === 'available');
  const [product] = template?.products ?? [];
  if (template === undefined || product === undefined) throw new Failure('The demo data has no product.');
  const id = stableUuid(new Date(template.created_at), 'chaos:product');
  const release = {
    ...template,
    id: stableUuid(new Date(template.created_at), 'chaos:release'),
    name: 'Chaos',
    products: [{ ...product, id, title: 'Chaos (limited)', quantity: initialStock, barcode: null }],
  };
  await operate(
    access,
    'store-api',
    ['catalogue', 'load'],
    JSON.stringify({ product_types, releases: [release] }),
  );
  return id;
}
