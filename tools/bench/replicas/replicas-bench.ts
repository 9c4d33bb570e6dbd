import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { startAuthReplicas } from './auth-replicas.ts';
import { compareReplicas, type ReplicaSet } from './compare-replicas.ts';
import { startCreatorReplicas } from './creator-replicas.ts';
import { startStoreReplicas } from './store-replicas.ts';
import { startWebhookReplicas } from './webhook-replicas.ts';

type StartReplicas = (context: BenchContext, name: string, replicas: number) => Promise<ReplicaSet>;

const services: Readonly<Record<string, StartReplicas>> = {
  'store-api': startStoreReplicas,
  'auth-server': startAuthReplicas,
  'creator-api': startCreatorReplicas,
  'webhook-worker': startWebhookReplicas,
};

/** Compares four replicas of each service with one, to measure how much throughput contention costs. */
export async function benchReplicas(context: BenchContext): Promise<readonly Figure[]> {
  const measured = Object.entries(services).filter(([service]) => (context.service ?? service) === service);
  if (measured.length === 0) throw new Failure(`There is no service ${context.service}.`);
  const figures: Figure[] = [];
  for (const [service, start] of measured)
    figures.push(
      ...(await compareReplicas(context, service, (name, replicas) => start(context, name, replicas))),
    );
  return figures;
}
