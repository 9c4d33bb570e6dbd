import { type BenchSite, unlimited } from '../bench-site.ts';
import { measure } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop } from '../store/shop-data.ts';
import { callerCount, storeRequests } from '../store/store-callers.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

export async function storeReplicas(site: BenchSite, name: string, replicas: number): Promise<ReplicaSet> {
  const service = await ServiceProcess.create(site, 'store-api', name, () => ({
    REDIS_URL: `${site.stores.redis}?keyPrefix=${name}:`,
    PAYMENT_PROVIDER: 'sandbox',
    RATE_LIMIT_ORDERS_CREATE: unlimited,
  }));
  const shop = await Shop.open(service.databaseUrl);
  const data = await shop.furnish();
  await shop.close();
  await service.start();
  await addReplicas(service, replicas);
  const token = await service.token({
    creator_id: data.creatorId,
    scope: 'orders:read orders:create shipping:read',
  });
  const requests = await Promise.all(service.origins.map((origin) => storeRequests(origin, data, token)));
  /** The callers, divided evenly over the replicas. */
  const callersOf = (which: 'order' | 'placeOrder') =>
    Array.from({ length: callerCount / replicas }, () => requests.map((each) => each[which])).flat();
  const cpuMs = () => service.cpuMs();
  return {
    service,
    parts: {
      'POST order': () => measure({ callers: callersOf('placeOrder'), cpuMs }, site.eachMs),
      'GET one order': () => measure({ callers: callersOf('order'), cpuMs }, site.eachMs),
    },
    close: async () => {
      await Promise.all(requests.map((each) => each.close()));
    },
  };
}
