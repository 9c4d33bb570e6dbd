import { type BenchContext, unlimited } from '../bench-context.ts';
import { measureCallers } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop } from '../store/shop-data.ts';
import { callerCount, storeRequests } from '../store/store-callers.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

export async function storeReplicas(
  context: BenchContext,
  name: string,
  replicas: number,
): Promise<ReplicaSet> {
  const service = await ServiceProcess.create(context, 'store-api', name, () => ({
    REDIS_URL: `${context.stores.redis}?keyPrefix=${name}:`,
    PAYMENT_PROVIDER: 'sandbox',
    RATE_LIMIT_ORDERS_CREATE: unlimited,
  }));
  const shop = await Shop.open(service.databaseUrl);
  const data = await shop.addCatalogue();
  await shop.close();
  await service.start();
  await addReplicas(service, replicas);
  const token = await service.token({
    creator_id: data.creatorId,
    scope: 'orders:read orders:create shipping:read',
  });
  const requests = await Promise.all(service.origins.map((origin) => storeRequests(origin, data, token)));
  /** The callers, divided evenly over the replicas. */
  const allCallers = (request: 'order' | 'placeOrder') =>
    Array.from({ length: callerCount / replicas }, () =>
      requests.map((ofReplica) => ofReplica[request]),
    ).flat();
  const cpuMs = () => service.cpuMs();
  return {
    service,
    measurements: {
      'POST order': () => measureCallers({ callers: allCallers('placeOrder'), cpuMs }, context.eachMs),
      'GET one order': () => measureCallers({ callers: allCallers('order'), cpuMs }, context.eachMs),
    },
    close: async () => {
      await Promise.all(requests.map((ofReplica) => ofReplica.close()));
    },
  };
}
