import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { authReplicas } from './auth-replicas.ts';
import { compareReplicas, type ReplicaSet } from './compare-replicas.ts';
import { creatorReplicas } from './creator-replicas.ts';
import { storeReplicas } from './store-replicas.ts';
import { webhookReplicas } from './webhook-replicas.ts';

type StartReplicas = (site: BenchSite, name: string, replicas: number) => Promise<ReplicaSet>;

const services: Readonly<Record<string, StartReplicas>> = {
  'store-api': storeReplicas,
  'auth-server': authReplicas,
  'creator-api': creatorReplicas,
  'webhook-worker': webhookReplicas,
};

/** Compares four replicas of each service with one: how much they lose by contention. */
export async function benchReplicas(site: BenchSite): Promise<readonly Figure[]> {
  const measured = Object.entries(services).filter(([service]) => (site.service ?? service) === service);
  if (measured.length === 0) throw new Failure(`There is no service ${site.service}.`);
  const figures: Figure[] = [];
  for (const [service, start] of measured)
    figures.push(...(await compareReplicas(site, service, (name, replicas) => start(site, name, replicas))));
  return figures;
}
