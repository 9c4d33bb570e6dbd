import type { BenchContext } from '../bench-context.ts';
import { benchEachService } from '../bench-each-service.ts';
import type { Figure } from '../figures.ts';
import { startAuthReplicas } from './auth-replicas.ts';
import { compareReplicas } from './compare-replicas.ts';
import { startCreatorReplicas } from './creator-replicas.ts';
import { startStoreReplicas } from './store-replicas.ts';
import { startWebhookReplicas } from './webhook-replicas.ts';

/** Compares four replicas of each service with one, to measure how much throughput contention costs. */
export function benchReplicas(context: BenchContext): Promise<readonly Figure[]> {
  return benchEachService(
    {
      'store-api': () => compareReplicas(context, 'store-api', startStoreReplicas),
      'auth-server': () => compareReplicas(context, 'auth-server', startAuthReplicas),
      'creator-api': () => compareReplicas(context, 'creator-api', startCreatorReplicas),
      'webhook-worker': () => compareReplicas(context, 'webhook-worker', startWebhookReplicas),
    },
    context.service,
  );
}
