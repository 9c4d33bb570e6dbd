import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { alternate, comparisonFigures, type Sample } from '../rounds.ts';
import type { ServiceProcess } from '../service-process.ts';

/** A service with replicas and a database of its own, and what is measured on it. */
export interface ReplicaSet {
  readonly service: ServiceProcess;
  /** Measurements by the name of the work. */
  readonly measurements: Readonly<Record<string, () => Promise<Sample>>>;
  close(): Promise<void>;
}

type StartReplicas = (context: BenchContext, name: string, replicas: number) => Promise<ReplicaSet>;

const replicaCount = 4;

/** Starts further processes until the service has `replicas`. */
export async function addReplicas(service: ServiceProcess, replicas: number): Promise<void> {
  while (service.origins.length < replicas) await service.startReplica();
}

/**
 * Compares the throughput of four replicas with that of one. Both exist at the same time; the one that is not
 * measured is paused, so that its polling is not counted.
 */
export async function compareReplicas(
  context: BenchContext,
  serviceName: string,
  start: StartReplicas,
): Promise<Figure[]> {
  const started: ReplicaSet[] = [];
  const comparison = compareStarted(context, serviceName, async (...options) => {
    const replicaSet = await start(...options);
    started.push(replicaSet);
    return replicaSet;
  });
  // Both sets are ended, whatever failed. The error of the comparison takes precedence.
  const [compared] = await Promise.allSettled([comparison]);
  const ended = await Promise.allSettled(started.map(endSet));
  for (const result of [compared, ...ended]) if (result.status === 'rejected') throw result.reason;
  return comparison;
}

async function compareStarted(
  context: BenchContext,
  serviceName: string,
  start: StartReplicas,
): Promise<Figure[]> {
  const prefix = `bench_replicas_${serviceName.replaceAll('-', '_')}`;
  const [one, four] = await context.step(`${serviceName}, one and four replicas`, async () => {
    const single = await start(context, `${prefix}_one`, 1);
    const several = await start(context, `${prefix}_four`, replicaCount);
    return [single, several] as const;
  });
  const figures: Figure[] = [];
  for (const work of Object.keys(one.measurements)) {
    const measureAlone = (measured: ReplicaSet, other: ReplicaSet) => async () => {
      other.service.pause();
      measured.service.resume();
      return measured.measurements[work]?.() ?? { perSecond: Number.NaN, cpuUs: undefined };
    };
    const rounds = await context.step(work, () =>
      alternate(
        [
          { name: 'one replica', measure: measureAlone(one, four) },
          { name: 'four replicas', measure: measureAlone(four, one) },
        ],
        context.rounds,
      ),
    );
    const pair = { of: 'four replicas', to: 'one replica' };
    const name = `${work}, four replicas, ratio to one`;
    figures.push(...comparisonFigures(name, rounds, pair, { atLeast: 0.9 }));
  }
  return figures;
}

async function endSet(replicaSet: ReplicaSet): Promise<void> {
  replicaSet.service.resume();
  try {
    await replicaSet.close();
  } finally {
    await replicaSet.service.stop();
  }
}
