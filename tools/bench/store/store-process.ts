import { type BenchContext, unlimited } from '../bench-context.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop, type ShopData } from './shop-data.ts';

/** Creates a store-api with the payment sandbox and separate keys in Redis. */
export function createStoreProcess(
  context: BenchContext,
  name: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  return ServiceProcess.create(context, 'store-api', name, () => ({
    REDIS_URL: `${context.stores.redis}?keyPrefix=${name}:`,
    PAYMENT_PROVIDER: 'sandbox',
    RATE_LIMIT_ORDERS_CREATE: unlimited,
    ...settings,
  }));
}

/** Adds a catalogue and 1000 orders to the database. */
export async function addCatalogue(databaseUrl: string): Promise<ShopData> {
  const shop = await Shop.open(databaseUrl);
  const data = await shop.addCatalogue();
  await shop.close();
  return data;
}

/** Returns a token of a creator's integration. */
export function integrationToken(store: ServiceProcess, creatorId: string): Promise<string> {
  const scope = 'orders:read orders:create releases:read shipping:read';
  return store.token({ creator_id: creatorId, scope });
}
