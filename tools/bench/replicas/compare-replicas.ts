import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { alternate, comparisonFigures, type Sample } from '../rounds.ts';
import type { ServiceProcess } from '../service-process.ts';

/** The replicas of a service on a separate database, with the measurements to make. */
export interface ReplicaSet {
  readonly service: ServiceProcess;
  /** Measurements by the name of the work. */
  readonly measurements: Readonly<Record<string, () => Promise<Sample>>>;
  /** Closes what the measurements use, but does not stop the service. */
  close(): Promise<void>;
}

type StartReplicas = (context: BenchContext, name: string, replicas: number) => Promise<ReplicaSet>;

const replicaCount = 4;

/** Starts processes until the service has this number of replicas. */
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
  const prefix = `bench_replicas_${serviceName.replaceAll('-', '_')}`;
  const started: ReplicaSet[] = [];
  const startSet = async (name: string, replicas: number): Promise<ReplicaSet> => {
    const replicaSet = await start(context, `${prefix}_${name}`, replicas);
    started.push(replicaSet);
    return replicaSet;
  };
  try {
    return await compareSets(context, serviceName, startSet);
  } finally {
    await Promise.all(started.map(endSet));
  }
}

async function compareSets(
  context: BenchContext,
  serviceName: string,
  startSet: (name: string, replicas: number) => Promise<ReplicaSet>,
): Promise<Figure[]> {
  const { one, four } = await context.step(`${serviceName}, one and four replicas`, async () => ({
    one: await startSet('one', 1),
    four: await startSet('four', replicaCount),
  }));
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
    const pair = { numerator: 'four replicas', denominator: 'one replica' };
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
