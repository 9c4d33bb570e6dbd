import type { BenchContext } from '../bench-context.ts';
import { measureCallers } from '../rounds.ts';
import { callerCount, storeRequests } from '../store/store-callers.ts';
import { addCatalogue, integrationToken, createStoreProcess } from '../store/store-process.ts';
import { addReplicas, type ReplicaSet } from './compare-replicas.ts';

export async function startStoreReplicas(
  context: BenchContext,
  name: string,
  replicas: number,
): Promise<ReplicaSet> {
  const service = await createStoreProcess(context, name);
  const data = await addCatalogue(service.databaseUrl);
  await service.start();
  await addReplicas(service, replicas);
  const token = await integrationToken(service, data.creatorId);
  const requestsByReplica = await Promise.all(
    service.origins.map((origin) => storeRequests(origin, data, token)),
  );
  /** The callers, divided evenly over the replicas. */
  const allCallers = (request: 'order' | 'placeOrder') =>
    Array.from({ length: callerCount / replicas }, () =>
      requestsByReplica.map((requests) => requests[request]),
    ).flat();
  return {
    service,
    measurements: {
      'POST order': () =>
        measureCallers({ callers: allCallers('placeOrder'), server: service }, context.eachMs),
      'GET one order': () =>
        measureCallers({ callers: allCallers('order'), server: service }, context.eachMs),
    },
    close: async () => {
      await Promise.all(requestsByReplica.map((requests) => requests.close()));
    },
  };
}
